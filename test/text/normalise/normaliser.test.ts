import assert from "node:assert/strict";
import { test } from "node:test";
import { createNormaliser } from "../../../src/text/normalise/normaliser.ts";
import { Traced } from "../../../src/text/traced.ts";
import { tables } from "../voice.ts";

const normalise = createNormaliser(tables.normaliser, new Set());

const WRITTEN_OUT: readonly (readonly [string, string])[] = [
  ["don’t  \t stop", "don't stop"],
  ["7:05 p.m.", "seven oh five P.M."],
  ["24:00", "twenty-four o'clock"],
  ["7:30:15", "seven thirty and fifteen seconds"],
  ["25:00", "25:00"],
  ["2024-03-14", "March fourteenth, 2024"],
  ["14/3/24", "March fourteenth, 2024"],
  ["£3k", "3 thousand pounds"],
  ["50¢ or 1 ¢", "50 cents or 1 cent"],
  ["Rs. 20", "20 rupees"],
  ["Rs 500 k", "500 thousand rupees"],
  ["-40°F", "-40 degrees Fahrenheit"],
  ["1,000 km, 1.0 lb", "1,000 kilometers, 1.0 pound"],
  ["Sep. 3rd", "September third"],
  ["3 March", "the third of March"],
  ["St. Paul on Main St.", "Saint Paul on Main Street."],
  ["w/o it", "without it"],
  ["No.5 and #5", "Number 5 and number 5"],
  ["Act I, Scene II", "Act 1, Scene 2"],
  ["Henry VIII", "Henry the eighth"],
  ["555-1234 now", "5 5 5, 1 2 3 4 now"],
  ["3/4, 9/11, 13/40", "3 quarters, September eleventh, 13 slash 40"],
  ["2020-21", "2020 to 21"],
  ["+5", "plus 5"],
  ["x = y", "x equals y"],
  ["<3", "<3"],
  ["a|b", "a, b"],
  ["2.50 .5", "2.50.5"],
  ["٣ May", "the third of May"],
];

for (const [text, written] of WRITTEN_OUT) {
  test(`"${text}" is written out as "${written}"`, () =>
    assert.equal(normalise(Traced.of(text)).text, written));
}
