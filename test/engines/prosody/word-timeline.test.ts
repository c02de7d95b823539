import assert from "node:assert/strict";
import { test } from "node:test";
import { WordTimeline } from "../../../src/engines/prosody/word-timeline.ts";

/** The reported words of a text, timed by its spaces. */
function timedWords(text: string): string[] {
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

test("WordTimeline reports words without their brackets, but with marks that are spoken", () => {
  const bare = timedWords("[sic] {a} ⟨b⟩ 「c」 ‹d› ‘e ¿f? ¡g! \u202eh\u202c \u0000i {}");
  assert.deepEqual(bare, ["sic", "a", "b", "c", "d", "e", "f?", "g!", "h", "i"]);
  const whole = ["$5", "5%", "C++", ".NET", "’90s", "dogs’", "Ph.D.", "cafe\u0301", "f(x)", "a[i][j]", "👍"];
  assert.deepEqual(timedWords(whole.join(" ")), whole);
});
