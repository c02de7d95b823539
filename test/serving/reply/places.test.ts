import assert from "node:assert/strict";
import { test } from "node:test";
import { Places } from "../../../src/serving/reply/places.ts";

test("words are found where they are spoken: not in marks, but in what only looks like one", () => {
  const cases = { "[voice:of] of it": 11, "[pause:1s] 1s of it": 14, "[voice: of the people] of it": 8 };
  for (const [text, expected] of Object.entries(cases))
    assert.equal(new Places(text).next({ word: "of", offset: 0, length: 2 }, text, null).offset, expected);
});
