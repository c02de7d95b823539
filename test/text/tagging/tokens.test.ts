import assert from "node:assert/strict";
import { test } from "node:test";
import { createTagger } from "../../../src/text/tagging/tagger.ts";
import { createTokeniser, subTokens } from "../../../src/text/tagging/tokeniser.ts";
import { tables } from "../voice.ts";

const tokenise = createTokeniser(tables.exceptions);
const tag = createTagger(tables.tagger);

const TOKENS: readonly (readonly [string, string])[] = [
  ["(hello).", "( hello ) ."],
  ["don't", "do n't"],
  ["well-known", "well - known"],
  ["10km", "10 km"],
  ["7pm", "7 pm"],
  ["e.g.,", "e.g. ,"],
  ["J.", "J."],
  ["AB.", "AB ."],
  ["end.Next", "end . Next"],
  ["C++", "C++"],
  ["US$5", "US$ 5"],
  ["'90s", "' 90s"],
  ["https://a.io/x?y=1.", "https://a.io/x?y=1 ."],
  ["!:)", "! :)"],
  ["x=y", "x = y"],
  ["foo_bar", "foo_bar"],
  ["and/or x/y", "and/or x / y"],
  ["etc.", "etc ."],
  ["wait... what……", "wait ... what ……"],
];
for (const [text, pieces] of TOKENS) {
  test(`the tokens of ${text} are ${pieces}`, () =>
    assert.equal(
      tokenise(text)
        .map((token) => token.text)
        .join(" "),
      pieces,
    ));
}

test("the last token of a run of characters says whether a space follows", () => {
  assert.deepEqual(
    tokenise("a (b) c").map((token) => token.spaceAfter),
    [true, false, false, true, false],
  );
});

const SUB_TOKENS: readonly (readonly [string, string])[] = [
  ["don't", "don't"],
  ["iPhone", "i Phone"],
  ["HTMLParser", "HTMLParser"],
  ["A113", "A 113"],
  ["-5", "-5"],
  ["F-16", "F - 16"],
  ["v2.0", "v 2.0"],
  ["5.", "5 ."],
  ["O'Neil", "O'N eil"],
  ["3rd", "3 rd"],
  ["'90s", "' 90 s"],
  ["C++", "C + +"],
  ["1'2", "1 2"],
  ["10:30", "10 : 30"],
];
for (const [token, pieces] of SUB_TOKENS) {
  test(`${token} is made of ${pieces}`, () => assert.equal(subTokens(token).join(" "), pieces));
}

test("the tags of a word hang on the words around it", () => {
  assert.deepEqual(tag(["They", "record", "it", "."]), ["PRP", "VBP", "PRP", "."]);
  assert.deepEqual(tag(["The", "record", "."]), ["DT", "NN", "."]);
});

test("words with the names of object properties are words like any other", () => {
  assert.equal(tag(["constructor", "__proto__", "toString"]).length, 3);
});
