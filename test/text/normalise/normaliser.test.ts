import assert from "node:assert/strict";
import { test } from "node:test";
import { createNormaliser } from "../../../src/text/normalise/normaliser.ts";
import { RewrittenText } from "../../../src/text/rewritten-text.ts";
import { tables } from "../voice.ts";

const normalise = createNormaliser(tables.normaliser);

const WRITTEN_OUT: readonly (readonly [string, string])[] = [
  ["don’t  \t stop", "don't stop"],
  ["7:05 p.m.", "seven oh five P.M."],
  ["24:00", "twenty-four o'clock"],
  ["7:30:15", "seven thirty and fifteen seconds"],
  ["2024-03-14", "March fourteenth, 2024"],
  ["14/3/24", "March fourteenth, 2024"],
  ["£3k", "three thousand pounds"],
  ["50¢ or 1 ¢", "fifty cents or one cent"],
  ["Rs. 20", "twenty rupees"],
  ["Rs 500 k", "five hundred thousand rupees"],
  ["-40°F", "minus forty degrees Fahrenheit"],
  ["1,000 km, 1.0 lb", "one thousand kilometers, one point zero pound"],
  ["Sep. 3rd", "September third"],
  ["3 March", "the third of March"],
  ["St. Paul on Main St.", "Saint Paul on Main Street."],
  ["w/o it", "without it"],
  ["Act I, Scene II", "Act 1, Scene 2"],
  ["Henry VIII", "Henry the eighth"],
  ["555-1234 now", "five five five, one two three four now"],
  ["3/4, 9/11, 13/40", "March fourth, nine eleven, 13 slash 40"],
  ["2020-21", "2020 to 21"],
  ["+5", "plus 5"],
  ["x = y", "x equals y"],
  ["<3", "<3"],
  ["a|b", "a, b"],
  ["2.50 .5", "two point five zero point five"],
];

for (const [text, written] of WRITTEN_OUT) {
  test(`"${text}" is normalised to "${written}"`, () =>
    assert.equal(normalise(RewrittenText.of(text)).text, written));
}
