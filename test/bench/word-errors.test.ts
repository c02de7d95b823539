import assert from "node:assert/strict";
import { test } from "node:test";
import { plainWords, wordErrors } from "../../bench/word-errors.ts";

test("case, punctuation and figures are no errors", () => {
  assert.deepEqual(
    wordErrors("the boy owes two dollars and 1,905 cents", "The boy owes 2 dollars, and 1905 cents."),
    { errors: 0, words: 13 },
  );
  assert.deepEqual(plainWords("It’s the 22nd of twenty-two."), [
    "its",
    "the",
    "twenty",
    "second",
    "of",
    "twenty",
    "two",
  ]);
});

test("an extra, a missing and a wrong word are an error each", () => {
  assert.equal(wordErrors("rice is often served", "rice is very often served").errors, 1);
  assert.equal(wordErrors("rice is often served", "rice is served").errors, 1);
  assert.equal(wordErrors("rice is often served", "ice is often served").errors, 1);
  assert.equal(wordErrors("rice is often served", "").errors, 4);
});
