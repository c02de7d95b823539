import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createPhonemizer } from "../../src/text/phonemes/phonemizer.ts";
import { CONSONANTS, VOWELS } from "../../src/text/phonemes/stress.ts";
import { parseLexicon } from "../../src/text/phonemes/user-lexicon.ts";
import { TOP } from "../architecture/top.ts";
import { letterB, tables } from "./voice.ts";

const FILE = join(TOP, "lexicon/names.tsv");
const { read } = createPhonemizer(tables, letterB);

test("every name has known phonemes, one main stress and a vowel", () => {
  const names = parseLexicon(readFileSync(FILE, "utf8"), FILE);
  assert.ok(names.length >= 300);
  for (const [name, said] of names) {
    const phonemes = said.slice(1, -1);
    assert.equal(phonemes.match(/ˈ/g)?.length, 1, name);
    for (const phoneme of phonemes) {
      assert.ok(VOWELS.has(phoneme) || CONSONANTS.has(phoneme) || "Tᵊˈˌ".includes(phoneme), name);
      assert.ok(tables.vocabulary.has(phoneme), name);
    }
    assert.ok(
      [...phonemes].some((phoneme) => VOWELS.has(phoneme)),
      name,
    );
  }
  assert.equal(new Set(names.map(([name]) => name)).size, names.length, "each is there once");
});

test("a name is read in any case, with its possessive and plural", async () => {
  assert.equal(await read("Siobhan met siobhan and SIOBHAN."), "ʃəvˈɔn mˈɛt ʃəvˈɔn ænd ʃəvˈɔn.");
  assert.equal(await read("Nguyen's phone, the Ubers"), "wˈɪnz fˈOn, ði ˈubəɹz");
  assert.equal(await read("We run Kubernetes on an iPhone."), "wˌi ɹˈʌn kˌubəɹnˈɛTiz ˌɔn ɐn ˈIfˌOn.");
});

test("a name listed with a capital matches only with a capital", async () => {
  assert.equal(await read("Macron"), "mɑkɹˈOn");
  assert.notEqual(await read("a macron"), "ɐ mɑkɹˈOn");
});
