import { light } from "./light.ts";
import { cardinalWords, digitWords } from "./numerals.ts";
import { before, type Kind, matchAt } from "./spoken.ts";

/** Numbers with commas that part no thousands: the groups behind are not all of three digits. */
const LISTED = light(
  /(?!\d{1,3}(?:,\d{3})+(?![\d,]))\d{1,3}(?:,\d{1,3}){1,12}(?![\p{L}\p{N}_%°]|[.,:/-]\d)/uy,
);
/** "0,5": nothing is counted from nought, so that the comma is Europe's point. */
const BELOW_ONE = light(/0,(\d{1,6})(?![\p{L}\p{N}_]|[.,]\d)/uy);
/** "1,2 and 3" → "1, 2 and 3"; "0,5" → "zero point five". */
export const listed: Kind = (text, at) => {
  if (/[\d$£€.,]$/u.test(before(text, at))) return null;
  const part = matchAt(BELOW_ONE, text, at);
  if (part !== null && !/\($/u.test(before(text, at)))
    return { words: `zero point ${digitWords(part[1] ?? "")}`, end: at + part[0].length };
  const list = matchAt(LISTED, text, at);
  if (list === null) return null;
  return {
    words: list[0].split(",").map(cardinalWords).join(", "),
    end: at + list[0].length,
  };
};
