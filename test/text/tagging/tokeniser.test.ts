import assert from "node:assert/strict";
import { test } from "node:test";
import { createTagger } from "../../../src/text/tagging/tagger.ts";
import {
  createTokeniser,
  prefixLength,
  subTokens,
  suffixLength,
} from "../../../src/text/tagging/tokeniser.ts";
import { tables } from "../voice.ts";

test("prefixLength stays within the run", () => {
  const cases: readonly [text: string, start: number, end: number, length: number][] = [
    ["(cat", 0, 4, 1],
    ["cat", 0, 3, 0],
    ["", 0, 0, 0],
    ["(", 1, 1, 0],
    ["+5", 0, 2, 0],
    ["+a", 0, 2, 1],
    ["+5", 0, 1, 1],
    ["...so", 0, 5, 3],
    ["...so", 0, 2, 2],
    [".so", 0, 3, 0],
    ["US$5", 0, 4, 3],
    ["US$5", 0, 3, 3],
    ["US$5", 0, 2, 0],
    ["aUS$5", 1, 5, 3],
  ];
  for (const [text, start, end, length] of cases)
    assert.equal(prefixLength(text, start, end), length, JSON.stringify([text, start, end]));
});

test("suffixLength stays within the run", () => {
  const cases: readonly [text: string, start: number, end: number, length: number][] = [
    ["cat)", 0, 4, 1],
    ["cat", 0, 3, 0],
    ["cat.", 0, 4, 1],
    ["cat.", 3, 4, 0],
    ["5.", 0, 2, 1],
    ["5.", 1, 2, 0],
    ["A.", 0, 2, 0],
    ["AB.", 0, 3, 1],
    ["AB.", 1, 3, 0],
    ["°C.", 0, 3, 1],
    ["°C.", 1, 3, 0],
    ["so...", 0, 5, 3],
    ["so...", 3, 5, 2],
    ["so……", 0, 4, 2],
    ["so……", 3, 4, 1],
    ["cat's", 0, 5, 2],
    ["CAT’S", 0, 5, 2],
    ["'s", 1, 2, 0],
    ["5km", 0, 3, 2],
    ["5km", 1, 3, 0],
    ["akm", 0, 3, 0],
  ];
  for (const [text, start, end, length] of cases)
    assert.equal(suffixLength(text, start, end), length, JSON.stringify([text, start, end]));
});

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
  test(`${text} is tokenised as ${pieces}`, () =>
    assert.equal(
      tokenise(text)
        .map((token) => token.text)
        .join(" "),
      pieces,
    ));
}

test("spaceAfter marks the last token before a space", () => {
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
  test(`${token} has the subtokens ${pieces}`, () => assert.equal(subTokens(token).join(" "), pieces));
}

test("tags depend on the neighbouring words", () => {
  assert.deepEqual(tag(["They", "record", "it", "."]), ["PRP", "VBP", "PRP", "."]);
  assert.deepEqual(tag(["The", "record", "."]), ["DT", "NN", "."]);
});

test("names of object properties are ordinary words", () => {
  assert.equal(tag(["constructor", "__proto__", "toString"]).length, 3);
});
