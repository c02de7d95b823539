import { cardinal, digitNames, ordinal, parseInteger } from "./number-words.ts";

/** Digits with thousands in threes, and a fraction: a number as Americans write it, as the source of a pattern. */
export const NUMBER = "(?:\\d{1,3}(?:,\\d{3}){1,6}|\\d{1,15})(?:\\.\\d{1,15})?|\\.\\d{1,15}";

/** "1,248" → "one thousand two hundred forty eight", without "and", commas and hyphens. */
export function cardinalWords(digits: string): string {
  return plain(cardinal(parseInteger(digits)));
}

/** "102" → "one hundred second". */
export function ordinalWords(digits: string): string {
  return plain(ordinal(parseInteger(digits)));
}

/** "0427" → "zero four two seven", or with "oh". */
export function digitWords(digits: string, zero: "zero" | "oh" = "zero"): string {
  const words = digitNames(digits.replace(/\D/gu, ""));
  return zero === "zero" ? words : words.replaceAll("zero", "oh");
}

/**
 * A number with or without a fraction. A fraction that ends in zero is said to its end: "4.0" → "four point zero". Any
 * other stays as written, for the lexicon, which knows how lightly "point" is said.
 */
export function numberWords(number: string): string {
  const [whole = "", fraction] = number.replaceAll(",", "").split(".");
  if (fraction === undefined) return cardinalWords(whole);
  if (!fraction.endsWith("0")) return `${whole}.${fraction}`;
  return `${whole === "" ? "" : cardinalWords(whole)} point ${digitWords(fraction)}`.trim();
}

/**
 * Numbers that are names, as of rooms, roads and flights: "406" → "four oh six", "1186" → "eleven eighty six",
 * "500" → "five hundred". Up to two digits are counted, more than four are said one by one.
 */
export function nameWords(digits: string): string {
  if (digits.startsWith("0") && digits.length > 1) return digitWords(digits, "oh");
  if (digits.length <= 2) return cardinalWords(digits);
  if (digits.length > 4) return digitWords(digits);
  const split = digits.length - 2;
  const [first, rest] = [digits.slice(0, split), digits.slice(split)];
  if (rest === "00")
    return cardinalWords(digits.length === 4 && first.endsWith("0") ? digits : first) + hundred(digits);
  return `${cardinalWords(first)} ${pairWords(rest)}`;
}

/** The second half of a year or a minute: "05" → "oh five", "45" → "forty five". */
export function pairWords(digits: string): string {
  return digits.startsWith("0") ? digitWords(digits, "oh") : cardinalWords(digits);
}

function hundred(digits: string): string {
  return digits.length === 4 && digits.charAt(1) === "0" ? "" : " hundred";
}

function plain(words: string): string {
  return words.replaceAll(" and ", " ").replaceAll(",", "").replaceAll("-", " ");
}
