import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cardinal,
  decimalWords,
  ordinal,
  parseInteger,
  yearWords,
} from "../../../src/text/normalise/number-words.ts";

test('cardinals say "and" before the last two digits only', () => {
  assert.equal(cardinal(0), "zero");
  assert.equal(cardinal(101), "one hundred and one");
  assert.equal(cardinal(1001), "one thousand and one");
  assert.equal(cardinal(1100), "one thousand, one hundred");
  assert.equal(cardinal(1_000_001), "one million and one");
  assert.equal(cardinal(1_012_000), "one million, twelve thousand");
  assert.equal(cardinal(10n ** 33n), "one decillion");
});

test("a number beyond the last scale word is read digit by digit", () => {
  assert.equal(cardinal(10n ** 36n).split(" ").length, 37);
});

test("ordinals change the last word", () => {
  assert.deepEqual([0, 1, 12, 20, 21, 101, 1000].map(ordinal), [
    "zeroth",
    "first",
    "twelfth",
    "twentieth",
    "twenty-first",
    "one hundred and first",
    "one thousandth",
  ]);
});

test("years are read in pairs, except the first of a millennium", () => {
  assert.deepEqual([1905, 2005, 1900, 1010, 1984, 2024, 800].map(yearWords), [
    "nineteen oh-five",
    "two thousand and five",
    "nineteen hundred",
    "ten ten",
    "nineteen eighty-four",
    "twenty twenty-four",
    "eight hundred",
  ]);
});

test("decimals drop trailing zeros", () => {
  assert.equal(decimalWords("2.50"), "two point five");
  assert.equal(decimalWords("3.00"), "three");
  assert.equal(decimalWords(".05"), "zero point zero five");
});

test("digits of any script are parsed", () => {
  assert.equal(parseInteger("٣０9"), 309n);
});
