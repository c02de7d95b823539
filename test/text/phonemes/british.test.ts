import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { asBritish, BRITISH } from "../../../src/text/phonemes/accent.ts";
import { loadBritishWords } from "../../../src/text/phonemes/british-lexicon.ts";
import { createPhonemizer } from "../../../src/text/phonemes/phonemizer.ts";
import { createUserLexicon } from "../../../src/text/phonemes/user-lexicon.ts";
import { TOP } from "../../architecture/top.ts";
import { temporaryFolder } from "../../e2e/folders.ts";
import fc from "../../properties.ts";
import { openNet, tables } from "../voice.ts";

const FILE = join(TOP, "lexicon/british.tsv.br");
const british = await loadBritishWords();
const { net, close } = await openNet();
after(close);
const { read, phonemes } = createPhonemizer(tables, net, { british });

/** The phonemes of misaki's British English, and punctuation. */
const BRITISH_SOUNDS = /^[AIQWYabdfhijklmnpstuvwzðŋɑɒɔəɛɜɡɪɹʃʊʌʒʤʧˈˌːθᵊɐ ;:,.!?—…"()“”]*$/u;

describe("British English", () => {
  for (const set of ["harvard", "taskmaster4", "synthetic-persona-chat", "topical-chat"]) {
    test(`agrees with misaki on 98.5 % of ${set}`, async (t) => {
      const { equal, words, different } = await compared(set);
      t.diagnostic(`${equal} of ${words} words are equal; not: ${different.join(", ")}`);
      assert.ok(words > 400);
      assert.ok(equal >= 0.985 * words);
    });
  }

  test("differs from American English in known words", async () => {
    assert.equal(
      await read("My aunt can't schedule a bath for the missile, nor dance on new grass."),
      "mˌI ˈɑːnt kˈɑːnt ʃˈɛdjuːl ɐ bˈɑːθ fɔː ðə mˈɪsIl, nˈɔː dˈɑːns ˌɒn njˈuː ɡɹˈɑːs.",
    );
  });

  test("pronounces r before -ing, and derives stems from the spelling", async () => {
    assert.equal(
      await read("asking, boring, recovering, viewing; hoping, hopping, putting, staring, telling"),
      "ˈɑːskɪŋ, bˈɔːɹɪŋ, ɹɪkˈʌvəɹɪŋ, vjˈuːɪŋ; hˈQpɪŋ, hˈɒpɪŋ, pˌʊtɪŋ, stˈɛːɹɪŋ, tˈɛlɪŋ",
    );
    assert.equal(
      await read("guiding, ranging, hanging, reversing, bathing, pasting, casting"),
      "ɡˈIdɪŋ, ɹˈAnʤɪŋ, hˈaŋɪŋ, ɹɪvˈɜːsɪŋ, bˈAðɪŋ, pˈAstɪŋ, kˈɑːstɪŋ",
    );
    assert.equal(await read("wanted classes passed"), "wˈɒntɪd klˈɑːsɪz pˈɑːst");
  });

  test("uses the dictionary's reading of a heteronym", async () => {
    assert.equal(
      await read("They record a record and produce the produce."),
      "ðˌA ɹɪkˈɔːd ɐ ɹˈɛkɔːd and pɹədjˈuːs ðə pɹˈɒdjuːs.",
    );
    assert.equal(await read("He does lead with lead."), "hˌiː dˈʌz lˈiːd wɪð lˈɛd.");
  });

  test("reads money, numbers and signs", async () => {
    assert.equal(
      await read("£3.50 for 21 tickets, 50%"),
      "θɹˈiː pˈWndz and fˈɪfti pˈɛns fɔː twˈɛnti wˈʌn tˈɪkɪts, fˈɪfti pəsˈɛnt",
    );
  });

  test("derives unknown words from American English", async () => {
    assert.equal(british.indexOf("filmmaker"), -1);
    assert.equal(await read("filmmaker"), "fˈɪlmmAkə");
    assert.equal(await read("Kubernetes"), asBritish(tables.names.get("kubernetes") ?? ""));
    assert.match(await read("Blortergan zubberly"), BRITISH_SOUNDS);
    assert.match(await read("a < b, c > d"), BRITISH_SOUNDS);
  });

  test("converts American phonemes in user words, and keeps British ones", async () => {
    assert.equal(await read("[tomato](/təmˈɑːtoʊ/), [tomato](/təmˈeɪɾoʊ/)"), "təmˈɑːtQ, təmˈAtQ");
    assert.equal(
      await read(
        "[x](/lˈɒt/), [x](/lˈɑt/), [x](/ɡˈəʊt/), [x](/kˈæt/), [x](/kˈat/), [x](/nˈu/), [x](/nˈuː/)",
      ).then(bare),
      "lˈɒt lˈɒt ɡˈQt kˈat kˈat njˈuː nˈuː",
    );
    const own = createUserLexicon(
      [
        ["zork", "/zˈɔɹk/"],
        ["SQL", "sequel"],
        ["Glass", "/ɡlˈæs/"],
      ],
      BRITISH,
    );
    assert.equal(
      await read("Zorks, SQL and the Glass's Glasses", [own]),
      "zˈɔːks, sˈiːkwᵊl and ðə ɡlˈasɪz ɡlˈasɪz",
    );
  });

  test("reads any text in British phonemes", async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ..."to the a in used $5 £2.50 10:30 p.m. Mr. U.S. NASA 5th www.x.com I'll that'll résumé ① — “ ” % & @ + =".split(
          " ",
        ),
      ),
      fc.string({ maxLength: 8 }),
      fc.string({ unit: "grapheme", maxLength: 8 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        for (const said of await phonemes(pieces.join(" "))) assert.match(said, BRITISH_SOUNDS);
      }),
      { numRuns: 400 },
    );
  });

  test("reads any listed name in British phonemes", () => {
    for (const [word, said] of tables.names) assert.match(asBritish(said), BRITISH_SOUNDS, word);
  });
});

describe("the British dictionary", () => {
  const lines = brotliDecompressSync(readFileSync(FILE)).toString("utf8").trimEnd().split("\n");

  test("finds every word, and no other", () => {
    assert.equal(lines.length, 87_352);
    for (const [at, line] of lines.entries()) {
      const [word = "", said = ""] = line.split("\t");
      const entry = british.entryAt(british.indexOf(word));
      const written =
        typeof entry === "string" ? entry : [...entry].map(([tag, each]) => `${tag}=${each ?? ""}`).join(" ");
      if (written !== said) assert.fail(`line ${at + 1}: ${line}`);
      if (typeof entry !== "string") assert.ok(entry.has("DEFAULT"), word);
      assert.match(said.replace(/[A-Za-z]+=/g, ""), BRITISH_SOUNDS);
    }
    for (const none of ["", "\t", "zzzzz", "!", "bat\t", "baths\n", "é", "\ud800", "bath\tb"]) {
      assert.equal(british.indexOf(none), -1, JSON.stringify(none));
    }
  });

  test("rejects a missing, damaged or oversized file by name", async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "british.tsv.br");
    await assert.rejects(loadBritishWords(file), /british\.tsv\.br cannot be read: put it back/);
    writeFileSync(file, readFileSync(FILE).subarray(0, 100_000));
    await assert.rejects(loadBritishWords(file), /british\.tsv\.br is damaged: put it back/);
    writeFileSync(file, brotliCompressSync(Buffer.alloc(5_000_000, "a\tb\n")));
    await assert.rejects(loadBritishWords(file), /british\.tsv\.br is damaged/);
  });
});

interface Case {
  readonly set: string;
  readonly text: string;
  readonly phonemes: string;
}

/** Counts the words read like misaki, without those that it does not know (❓). */
async function compared(set: string): Promise<{ equal: number; words: number; different: string[] }> {
  const cases = readFileSync(join(TOP, "test/golden/text/british.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line): Case => JSON.parse(line))
    .filter((each) => each.set === set);
  const different: string[] = [];
  let words = 0;
  for (const { text, phonemes } of cases) {
    const ours = (await read(text)).split(/ +/);
    for (const [at, theirs] of phonemes.split(/ +/).entries()) {
      if (theirs.includes("❓")) continue;
      words++;
      if (ours[at] !== theirs) different.push(`${ours[at]} (${theirs})`);
    }
  }
  return { equal: words - different.length, words, different };
}

function bare(said: string): string {
  return said.replaceAll(",", "");
}
