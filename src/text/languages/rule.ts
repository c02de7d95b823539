import { withRanges } from "../normalise/rule.ts";

/**
 * What a text looks like, and the words for it. Quantifiers are bounded or cannot start within their own match, so that
 * a pass takes linear time. Returning the match keeps it.
 */
export type Rule = readonly [
  pattern: RegExp,
  words: string | ((match: string, ...groups: string[]) => string),
];

/** Makes a rule whose match neither begins nor ends within a word or number. */
export function wordRule(source: string, words: Rule[1]): Rule {
  return [withRanges(`(?<![\\p{L}\\p{N}])(?:${source})(?![\\p{L}\\p{N}])`, "gu"), words];
}

/** Makes a rule whose pattern says itself where it may begin and end. */
export function rule(source: string, words: Rule[1]): Rule {
  return [withRanges(source, "gu"), words];
}

/** No letter, digit or separator of digits is before. */
export const BEFORE_NUMERAL = "(?<![\\p{L}\\d]|\\d[.,])";
/** Captures the word after a space, if there is one. */
export const NEXT_WORD = "(?=(?: (\\p{L}{1,30}))?)";
/** Captures a unit and its power. */
export const UNIT = "([°º]?\\p{L}{1,4}|[°º′″])([²³])?";
/** Captures the unit after a slash, if there is one. */
export const UNIT_PER = `(?:\\/${UNIT})?`;
