import assert from "node:assert/strict";
import { test } from "node:test";
import { WordTimeline } from "../../../src/engines/prosody/word-timeline.ts";

/** The words that are told of a text whose spoken words come from what lies between its spaces. */
function toldOf(text: string): string[] {
  const heard = new WordTimeline(240_000);
  const words = [...text.matchAll(/\S+/gu)].map(({ 0: word, index }, at) => ({
    source: { from: index, to: index + word.length },
    fromFrame: 10 * at,
    toFrame: 10 * at + 8,
  }));
  heard.place(words, text, { atSample: 0, frame: 0, endFrame: 1_000 });
  const told = heard.take(240_000);
  for (const { word, offset, length } of told)
    assert.equal([...text].slice(offset, offset + length).join(""), word);
  return told.map(({ word }) => word);
}

test("a word is told without what encloses it, and with what is said of it or belongs to it", () => {
  assert.deepEqual(toldOf("[sic] {a} ⟨b⟩ 「c」 ‹d› ‘e ¿f? ¡g! \u202eh\u202c \u0000i {}"), [
    "sic",
    "a",
    "b",
    "c",
    "d",
    "e",
    "f?",
    "g!",
    "h",
    "i",
  ]);
  const whole = ["$5", "5%", "C++", ".NET", "’90s", "dogs’", "Ph.D.", "cafe\u0301", "f(x)", "a[i][j]", "👍"];
  assert.deepEqual(toldOf(whole.join(" ")), whole);
});
