import assert from "node:assert/strict";
import { test } from "node:test";
import { CharacterAlignment } from "../../../src/api/realtime/character-alignment.ts";

const word = (text: string, offset: number, start: number, end: number) => {
  return { word: text, offset, length: [...text].length, start, end };
};

test("A character alignment spreads a word's time, gives its punctuation and space with it, and fills gaps", () => {
  const alignments = new CharacterAlignment(false);
  alignments.addSentence("👍 Oh, “no”!");
  assert.deepEqual(alignments.take([]), null);
  const first = alignments.take([word("Oh", 2, 0.1, 0.3)])!;
  assert.equal(first.chars.join(""), "👍 Oh, ");
  assert.deepEqual(first.charStartTimesMs, [0, 50, 100, 200, 300, 300]);
  assert.deepEqual(first.charDurationsMs, [50, 50, 100, 100, 0, 0]);
  alignments.addSentence(" Yes");
  // Times restart at the end of the last alignment, 300 ms.
  const second = alignments.take([word("no", 7, 0.5, 0.6), word("Yes", 12, 1, 1.3)])!;
  assert.equal(second.chars.join(""), "“no”! Yes ");
  assert.deepEqual(second.charStartTimesMs, [0, 200, 250, 300, 300, 300, 700, 800, 900, 1_000]);
  assert.deepEqual(second.charDurationsMs, [200, 50, 50, 0, 0, 0, 100, 100, 100, 0]);
});

test("A character alignment can count from the start, and skips marks and a pause without words", () => {
  const alignments = new CharacterAlignment(true);
  alignments.addSentence("[pause:1s]");
  alignments.addSentence("Hm.");
  const mark = { ...word("", 0, 0.5, 0.5), mark: "here" };
  const { chars, charStartTimesMs } = alignments.take([mark, word("Hm", 10, 1, 1.2)])!;
  assert.equal(chars.join(""), "[pause:1s]Hm. ");
  assert.deepEqual(charStartTimesMs.slice(-4), [1_000, 1_100, 1_200, 1_200]);
});
