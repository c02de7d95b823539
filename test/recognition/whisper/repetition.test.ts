import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  lengthBeforeRepeat,
  removeRepeats,
  repeatedPhrase,
} from "../../../src/recognition/whisper/repetition.ts";

describe("the repetition guard", () => {
  test("finds a phrase repeated three times, or six times if it has one or two tokens", () => {
    assert.equal(repeatedPhrase([9, 1, 2, 3, 1, 2, 3, 1, 2, 3]), 3);
    assert.equal(repeatedPhrase([9, 1, 2, 3, 1, 2, 3, 1, 2]), 0);
    assert.equal(repeatedPhrase([5, 5, 5, 5, 5]), 0);
    assert.equal(repeatedPhrase([5, 5, 5, 5, 5, 5]), 1);
    assert.equal(repeatedPhrase(Array.from({ length: 96 }, (_, at) => at % 32)), 32);
    assert.equal(repeatedPhrase(Array.from({ length: 99 }, (_, at) => at % 33)), 0);
  });

  test("keeps the tokens before the first repetition", () => {
    const ids = [7, 8, 1, 2, 3, 1, 2, 3, 1, 2, 3];
    assert.equal(lengthBeforeRepeat(ids, repeatedPhrase(ids)), 5);
  });

  test("reduces repeated phrases to one", () => {
    assert.deepEqual(removeRepeats([7, 1, 2, 3, 1, 2, 3, 1, 2, 3, 8, 8]), [7, 1, 2, 3, 8]);
    assert.deepEqual(removeRepeats([1, 1, 2, 1, 1, 2, 5, 1, 2]), [1, 2, 5, 1, 2]);
    assert.deepEqual(removeRepeats([]), []);
  });
});
