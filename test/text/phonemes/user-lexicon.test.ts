import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { accentOfTag } from "../../../src/text/languages/languages.ts";
import { AMERICAN } from "../../../src/text/phonemes/accent.ts";
import { ACCEPTED, inlineFault, readGivenPhonemes } from "../../../src/text/phonemes/given-phonemes.ts";
import { createPhonemizer } from "../../../src/text/phonemes/phonemizer.ts";
import {
  createUserLexicon,
  lexiconEntryFault,
  parseLexicon,
} from "../../../src/text/phonemes/user-lexicon.ts";
import { TOP } from "../../architecture/top.ts";
import fc from "../../properties.ts";
import { letterB, tables } from "../voice.ts";

const { read, phonemes } = createPhonemizer(tables, letterB);
const own = createUserLexicon([
  ["gizmo", "/ʤˈizmO/"],
  ["GIZ", "/ʤˈiz/"],
  ["C++", "see plus plus"],
  ["New Foo", "/nˌu fˈu/"],
  ["foo", "food"],
  ["SQL", "sequel"],
  ["müsli", "/mˈusli/"],
]);
const say = (sentence: string) => read(sentence, [own]);

describe("a user word", () => {
  it("is read as its phonemes or its respelling", async () => {
    assert.equal(await say("A gizmo for SQL."), await read("A [x](/ʤˈizmO/) for sequel."));
    assert.match(await say("A gizmo for SQL."), /^ɐ ʤˈizmO fɔɹ sˈikwəl\.$/);
  });

  it("matches in any case if it is lowercase, else exactly", async () => {
    assert.equal(await say("Gizmo GIZMO"), "ʤˈizmO ʤˈizmO");
    assert.equal(await say("GIZ"), "ʤˈiz");
    assert.notEqual(await say("giz"), "ʤˈiz");
  });

  it("matches whole words, the longest first", async () => {
    assert.equal(await say("(gizmo), gizmo!"), "(ʤˈizmO), ʤˈizmO!");
    assert.doesNotMatch(await say("gizmology agizmo"), /ʤˈizmO/);
    assert.equal(await say("New Foo"), "nˌu fˈu");
    assert.equal(await say("C++ and C"), await read("see plus plus and C"));
  });

  it("has a possessive, and affects weak forms before it", async () => {
    assert.equal(await say("the gizmo's end"), "ðə ʤˈizmOz ˈɛnd");
    assert.equal(await read("the x", [createUserLexicon([["x", "/ˈæks/"]])]), "ði ˈæks");
  });

  it("has a plural, unless the lexicon lists one", async () => {
    assert.equal(await say("gizmos Gizmos GIZMOS, New Foos"), "ʤˈizmOz ʤˈizmOz ʤˈizmOz, nˌu fˈuz");
    assert.equal(await say("the SQLs"), await read("the sequels"));
    const words = createUserLexicon([
      ["city", "/sˈʌTi/"],
      ["fox", "/fˈɛks/"],
      ["fish", "/fˈæʃ/"],
      ["fishes", "/fˈu/"],
      ["MP3", "/fˈʌ/"],
    ]);
    assert.equal(await read("cities foxes fishes MP3s", [words]), "sˈʌTiz fˈɛksᵻz fˈu fˈʌz");
  });

  it("has no plural that is a word itself", async () => {
    const words = createUserLexicon([
      ["ga", "/fˈu/"],
      ["ha", "/fˈu/"],
      ["io", "/fˈu/"],
    ]);
    assert.equal(await read("gas has IOS", [words]), await read("gas has IOS"));
    assert.equal(await read("ga ha", [words]), "fˈu fˈu");
  });

  it("reads single capitals in its respelling as letter names", async () => {
    const words = createUserLexicon([
      ["AIP", "A I P"],
      ["API", "A P I"],
      ["Foos", "a Food"],
    ]);
    assert.equal(await read("The AIP", [words]), "ði ˈA ˌI pˈi");
    assert.equal(await read("two APIs and the API's", [words]), "tˈu ˈA pˈi ˈIz ænd ði ˈA pˈi ˈIz");
    assert.equal(await read("Foos", [words]), "ɐ fˈud");
  });

  it("matches in any encoding of accents and apostrophes", async () => {
    assert.equal(await say("mu\u0308sli"), "mˈusli");
    const quote = createUserLexicon([["rock'n'roll", "/ɹˈɑkənɹˈOl/"]]);
    assert.equal(await read("rock’n’roll", [quote]), "ɹˈɑkənɹˈOl");
  });

  it("precedes the dictionary, and the first lexicon precedes the second", async () => {
    const second = createUserLexicon([
      ["gizmo", "/fˈu/"],
      ["bass", "/bˈu/"],
    ]);
    assert.equal(await read("gizmo bass", [own, second]), "ʤˈizmO bˈu");
  });

  it("is rejected with its fault", () => {
    const remedy = "write phonemes as docs/pronunciation.md lists them, as in /kˌubɚnˈɛtiz/";
    const noLetter = "has no letter or digit: it needs at least one";
    for (const [word, said, fault] of [
      ["", "x", `the word ${noLetter}`],
      [" a", "x", "the word begins or ends with a space: take the space away"],
      ["a".repeat(65), "x", "the word has more than 64 characters: write a shorter one"],
      ["[a]", "x", "the word has a bracket or a control character: write it without"],
      ["a", "", `what is said ${noLetter}`],
      ["a", "x".repeat(201), "what is said has more than 200 characters: write a shorter one"],
      ["a", `/${"x".repeat(200)}/`, "what is said has more than 200 characters: write a shorter one"],
      [
        "a",
        "/x",
        "what is said begins with a slash and does not end with one: write /phonemes/, or words without the slash",
      ],
      ["a", "//", "what is said has nothing between its slashes: write phonemes there, as in /fˈu/"],
      ["a", "/fˈ1u/", `character 4 of what is said ("1") is not a phoneme: ${remedy}`],
      ["a", "/kæc/", 'character 4 of what is said ("c") is not a phoneme: write k or s'],
      ["a", "/n\u0303u/", `character 3 of what is said (U+0303) is not a phoneme: ${remedy}`],
      ["a", "/ˈ/", `character 2 of what is said ("ˈ") has no sound after it: ${remedy}`],
      ["a", "/fˈu/", null],
      ["a", "ay", null],
    ] as const) {
      assert.equal(lexiconEntryFault([word, said]), fault, `${word} ${said}`);
    }
  });
});

describe("inline phonemes", () => {
  it("replace their word anywhere", async () => {
    assert.equal(await read("[Kubernetes](/kˌubɚnˈɛTiz/)'s API"), "kˌubəɹnˈɛTizᵻz ˌApˌiˈI");
    assert.equal(await read("the [x](/ˈæks/), and [a b](/fˈu/)!"), "ði ˈæks, ænd fˈu!");
    assert.deepEqual(await phonemes("Say [St. Foo](/sˈAnt fˈu/) now. Yes."), ["sˈA sˈAnt fˈu nˈW.", "jˈɛs."]);
  });

  it("are not recognised in link addresses", async () => {
    for (const address of [
      "/about/",
      "/læs-mere/",
      "/suðurnes/",
      "/docs/page/",
      "https://a.example/",
      "/",
      "/ʃop/x/",
    ]) {
      assert.equal(await read(`See [this page](${address}) now.`), await read("See this page now."), address);
      assert.equal(inlineFault(`See [this page](${address}) now.`), null);
    }
  });

  it("do not change how a link's words are read", async () => {
    const plain = await read("See rule v3.1 at 10 kg now.");
    for (const address of ["/rules/", "/rules", "/a/b/", "https://a.example/"]) {
      assert.equal(await read(`See [rule v3.1 at 10 kg](${address}) now.`), plain, address);
    }
  });

  it("may be IPA", () => {
    for (const [ipa, own] of [
      ["ˈtʃɔɪs", "ˈʧYs"],
      ["ɹəʊˈdeɪoʊ", "ɹOˈdAO"],
      ["ˈɡuː.ɡəl", "ˈɡuɡəl"],
      ["grˈaʊnd", "ɡɹˈWnd"],
      ["'kɪt", "ˈkɪt"],
      ["t͜ʃˈɪp t͡ʃˈɪp d͜ʒˈæm", "ʧˈɪp ʧˈɪp ʤˈæm"],
      ["bˈʌtn̩ bˈɑtl̩ ɹˈɪðm̩", "bˈʌtᵊn bˈɑtᵊl ɹˈɪðᵊm"],
    ] as const) {
      assert.deepEqual(readGivenPhonemes(ipa), { phonemes: own });
    }
  });

  it("need a sign that no address has", async () => {
    assert.equal(await read("[pizza](/kit/)"), await read("pizza"));
    assert.equal(await read("[pizza](/k'it/)"), await read("pizza"));
    assert.equal(await read("[pizza](/kˈit/)"), "kˈit");
  });

  it("are all listed in docs/pronunciation.md", () => {
    const page = readFileSync(join(TOP, "docs/pronunciation.md"), "utf8").replace(/```[^`]*```/g, "");
    const shown = new Set(
      [...page.matchAll(/`([^`]+)`/g)].flatMap(([, code = ""]) => [code, ...code.split(" ")]),
    );
    for (const sign of ACCEPTED) {
      if (sign !== " ") assert.ok(shown.has(sign), sign);
      assert.ok("phonemes" in readGivenPhonemes(`${sign}u`), sign);
    }
  });

  it("are rejected with the position of the first invalid character", () => {
    assert.equal(inlineFault("plain text"), null);
    assert.equal(inlineFault("a [b](/bˈi/) c"), null);
    const text = "🎉 [b](/bˈi/) [c](/sˈ9/)";
    assert.equal(Array.from(text)[20], "9");
    assert.match(inlineFault(text) ?? "", /^character 21 \("9"\) is not a phoneme: write phonemes as /);
  });

  it("are ignored if they are invalid and not rejected", async () => {
    assert.equal(await read("a [sea](/sˈ9/) c"), await read("a sea c"));
  });
});

describe("any text", () => {
  it("is read with user words, and unchanged if none occurs", async () => {
    const none = createUserLexicon([["qqqqq", "/fˈu/"]]);
    const text = fc.string({ unit: "grapheme-composite", maxLength: 60 });
    const piece = fc.constantFrom("gizmo", "[", "](/", "/)", "ˈ", "\ue000", " ", "'s", "C++", "New Foo");
    const mixed = fc.array(fc.oneof(text, piece), { maxLength: 12 }).map((parts) => parts.join(""));
    await fc.assert(
      fc.asyncProperty(mixed, async (sentence) => {
        assert.equal(typeof (await say(sentence)), "string");
        const composed = sentence.normalize("NFC").replace(/[\ue000-\uf8ff]/g, "");
        assert.equal(await read(composed, [none]), await read(composed));
      }),
      { numRuns: 300 },
    );
  });

  it("with many brackets is checked in linear time", async () => {
    for (const part of ["[", "[](/", "[a](/ˈ", "](/", "[a](/ˈa/)"]) {
      assert.equal(typeof inlineFault(part.repeat(20_000)), "object");
    }
  });
});

describe("a lexicon file", () => {
  it("has one word per line, comments, blank lines and any line ending", () => {
    const file = "\ufeff# mine\r\n\r\n  # more\r\nfoo\t/fˈuɲo/\r\nSQL\tsequel\r\n";
    const words = parseLexicon(file, "x.tsv", [AMERICAN, accentOfTag("es")!]);
    assert.deepEqual(words, [
      ["foo", "/fˈuɲo/"],
      ["SQL", "sequel"],
    ]);
  });

  it("is rejected by file and line", () => {
    const form = "write a word, a tab, and its /phonemes/ or other words on each line";
    for (const [text, where] of [
      ["foo /fˈu/", `x.tsv, line 1, has no tab: ${form}`],
      ["# c\na\tb\tc", `x.tsv, line 2, has more than one tab: ${form}`],
      ["foo\t/fc/", 'x.tsv, line 1: character 3 of what is said ("c") is not a phoneme: write k or s'],
      ["!\tfoo", "x.tsv, line 1: the word has no letter or digit: it needs at least one"],
      ["\n".repeat(10_001), "x.tsv has more than 10000 lines: keep to the words that you need"],
      ['\ufeff<?xml version="1.0"?>\n', `x.tsv is a PLS (XML) lexicon, which is not read: ${form}`],
      ["\n <lexicon>", `x.tsv is a PLS (XML) lexicon, which is not read: ${form}`],
    ] as const) {
      assert.throws(() => parseLexicon(text, "x.tsv"), { message: where });
    }
  });

  it("may have 10,000 lines", () => {
    assert.equal(parseLexicon("foo\t/fˈu/\n".repeat(10_000), "x.tsv").length, 10_000);
  });
});
