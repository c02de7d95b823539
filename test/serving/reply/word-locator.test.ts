import assert from "node:assert/strict";
import { test } from "node:test";
import { WordLocator } from "../../../src/serving/reply/word-locator.ts";

test("words are found where they are spoken: not in marks, but in what only looks like one", () => {
  const cases = { "[voice:of] of it": 11, "[pause:1s] 1s of it": 14, "[voice: of a] of it": 8 };
  const of = { word: "of", offset: 0, length: 2 };
  for (const [text, offset] of Object.entries(cases))
    assert.equal(new WordLocator(text).next(of, text, null).offset, offset);
});
