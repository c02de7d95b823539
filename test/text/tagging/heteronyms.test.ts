import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPhonemizer } from "../../../src/text/phonemes/phonemizer.ts";
import { parseHeteronyms } from "../../../src/text/tagging/heteronyms.ts";
import { letterB, tables } from "../voice.ts";

const { read } = createPhonemizer(tables, letterB);

describe("lexicon/heteronyms.tsv", () => {
  for (const [word, lines] of tables.heteronyms) {
    it(`reads "${word}" as listed in each example`, async () => {
      for (const { phonemes, examples } of lines) {
        for (const sentence of examples) {
          const words = plain(await read(sentence)).split(/[^\p{L}]+/u);
          const matching = words.filter((word) => word.startsWith(plain(phonemes)));
          assert.notEqual(matching.length, 0, `${sentence}: ${phonemes} is not among ${words}`);
        }
      }
    });
  }

  it("has known phonemes, and examples that contain their word", () => {
    for (const [word, lines] of tables.heteronyms) {
      assert.equal(word, word.toLowerCase());
      for (const { phonemes, examples } of lines) {
        assert.ok(
          [...phonemes].every((phoneme) => tables.vocabulary.has(phoneme)),
          phonemes,
        );
        for (const sentence of examples) {
          assert.match(sentence.toLowerCase(), new RegExp(`\\b${word}`), `${sentence} lacks ${word}`);
        }
      }
    }
  });
});

describe("a heteronym", () => {
  it("keeps its reading in plurals, in compounds and at the beginning", async () => {
    assert.match(plain(await read("Their resumes were short.")), /ɹɛzəmAz/);
    assert.match(plain(await read("A lead-based paint")), /lɛdb/);
    assert.match(plain(await read("(Record it for me.)")), /^\(ɹəkɔɹd/);
  });

  it("is a verb after an auxiliary and its subject", async () => {
    for (const sentence of [
      "Would the older members ever object to it?",
      "Why didn't they object?",
      "Can anybody really object?",
      "Let me object.",
      "They would not object.",
    ]) {
      assert.match(plain(await read(sentence)), /əbʤɛkt/, sentence);
    }
  });

  it('is a participle after "have"', async () => {
    for (const sentence of [
      "Has your little sister read it?",
      "They have all read it.",
      "He hasn't even read it.",
      "Having read it, I left.",
    ]) {
      assert.match(plain(await read(sentence)), /ɹɛd/, sentence);
    }
  });

  it("is a noun after a verb that merely resembles one with an infinitive", async () => {
    for (const [sentence, noun] of [
      ["She donates produce to the school.", "pɹOdus"],
      ["The shop dominates produce.", "pɹOdus"],
      ["It issues permits.", "pɜɹmɪts"],
      ["The city amasses refuse.", "ɹɛfjus"],
    ] as const) {
      assert.match(plain(await read(sentence)), new RegExp(noun), sentence);
    }
    assert.match(plain(await read("The farm helps produce milk.")), /pɹədus/);
  });
});

describe("parseHeteronyms", () => {
  it("names the file and the line of an error", () => {
    assert.throws(() => parseHeteronyms("# x\nbass\tbˈAs\t-", "x.tsv"), /x\.tsv, line 2: four columns/);
    assert.throws(
      () => parseHeteronyms("a\tb\tnearby: c\td", "x.tsv"),
      /x\.tsv, line 1: "nearby: c" is no condition/,
    );
    assert.throws(() => parseHeteronyms("a\tb\tnear:\td", "x.tsv"), /line 1/);
  });
});

function plain(phonemes: string): string {
  return phonemes.replace(/[ˈˌ]/g, "").replaceAll("ɾ", "T");
}
