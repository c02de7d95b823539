import { type Kind, kindOf, matchAt, pattern, withRanges } from "./kind.ts";
import { digitWords, nameWords } from "./numerals.ts";

/** American numbers, with or without country and area: 1-800-555-0126, (206) 555-0142, 312.555.0168, 555-1234. */
const AMERICAN = pattern(
  "(?:\\+?1[-. ])?\\(\\d{3}\\)[-. ]?\\d{3}[-. ]\\d{4}|(?:\\+?1[-. ])?\\d{3}([-.])\\d{3}\\1\\d{4}|" +
    "(?:\\+?1 )?\\d{3} \\d{3}[ -]\\d{4}|\\d{3}-\\d{4}",
);
/** International ones begin with a plus: +44 20 7946 0862. */
const INTERNATIONAL = pattern("\\+\\d{1,3}(?:[-. ]?\\(?\\d{1,11}\\)?){1,6}");
/** With a zero in front, as at home in Europe: 0800 123 4567. */
const NATIONAL = pattern("0\\d{1,4}(?:[ /-]\\d{2,8}){1,5}");
const MIN_DIGITS = 7;

/** "1-800-FLOWERS" */
const WITH_WORD = withRanges(/(1-)?([89]\d{2})-([A-Z]{2,9}(?:-[A-Z]{2,9}){0,2})(?![\p{L}\p{N}_]|-\p{N})/uy);

/** A number whose last digits are a word: "one eight hundred, flowers". */
export const phoneWord = kindOf(WITH_WORD, ([, country, area = "", word = ""]) => {
  const words = word.toLowerCase().replaceAll("-", " ");
  return `${country === undefined ? "" : "one "}${nameWords(area)} ${words}`;
});

/** Telephone numbers, digit by digit with a rest between their groups. */
export const phone: Kind = (text, at) => {
  const match =
    matchAt(AMERICAN, text, at) ?? matchAt(INTERNATIONAL, text, at) ?? matchAt(NATIONAL, text, at);
  if (match === null) return null;
  const end = at + match[0].length;
  if (/^[-/.]\d/u.test(text.slice(end, end + 2))) return null;
  const digits = match[0].replace(/\D/gu, "");
  if (digits.length < MIN_DIGITS || digits.length > 15) return null;
  const groups = match[0].match(/\d+/gu) ?? [];
  const words = groups.map((group) => digitWords(group)).join(", ");
  return { words: match[0].startsWith("+") ? `plus ${words}` : words, end };
};
