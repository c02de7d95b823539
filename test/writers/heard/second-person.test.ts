import assert from "node:assert/strict";
import { test } from "node:test";
import { inSecondPerson } from "../../../src/writers/heard/second-person.ts";

import fc from "../../properties.ts";

for (const [first, second] of [
  ["I am late and I was early", "you are late and you were early"],
  ["I'm sure I've lost mine", "you're sure you've lost yours"],
  ["my wife and I were asked by our son", "your wife and you were asked by your son"],
  ["I only was there once, I wasn't ill", "you only were there once, you weren't ill"],
  ["we're proud of ourselves and she gave us ours", "you're proud of yourselves and she gave you yours"],
  ["I moved to the US by myself", "you moved to the US by yourself"],
  ["he was here and it is fine", "he was here and it is fine"],
] as const) {
  test(`${first}: ${second}`, () => assert.equal(inSecondPerson(first), second));
}

test("what speaks to somebody is not turned, since nobody could tell who is meant", () => {
  for (const clause of ["I told you", "your dog bit my dog", "let's go", "you're my friend"])
    assert.equal(inSecondPerson(clause), null);
});

const FIRST = [
  "I",
  "my",
  "me",
  "mine",
  "we",
  "our",
  "us",
  "ours",
  "myself",
  "I'm",
  "I've",
  "we'll",
  "I was",
  "we are",
  "i",
];
const OTHERS = [
  "cat",
  "Thursday",
  "on",
  "the",
  "house",
  "seven",
  "is",
  "likes",
  "Mimi",
  "US",
  "their",
  "mys",
  "inside",
  "weekly",
];
const words = fc.array(fc.constantFrom(...FIRST, ...OTHERS), { minLength: 1, maxLength: 12 });

test("nothing of the first person is left, no word is lost, and turning again is refused", () => {
  fc.assert(
    fc.property(words, (clause) => {
      const text = clause.join(" ");
      const turned = inSecondPerson(text);
      assert.ok(turned !== null);
      assert.doesNotMatch(turned, /\b(?:[Ii]|[Ww]e|[Mm]y|[Mm]e|mine|our|ours|us|myself)\b/);
      assert.doesNotMatch(turned, /\byou (?:am|was)\b/);
      assert.equal(turned.split(" ").length, text.split(" ").length);
      if (clause.some((word) => FIRST.includes(word))) assert.equal(inSecondPerson(turned), null);
    }),
  );
});

test("words of others stay as they are, in their order", () => {
  fc.assert(
    fc.property(words, (clause) => {
      const turned = inSecondPerson(clause.join(" ")) ?? "";
      const kept = turned.split(" ").filter((word) => OTHERS.includes(word));
      assert.deepEqual(
        kept,
        clause.filter((word) => OTHERS.includes(word)),
      );
    }),
  );
});
