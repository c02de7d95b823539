import { DIGIT, escapePattern } from "../../characters.ts";

/** One rule of the normaliser: spelled-out text for shorthand, over the result of the rule before. */
export interface Rewriting {
  readonly pattern: RegExp;
  /** As for `String.replace`: the match, its groups, its place and the whole text. */
  readonly write: (match: string, ...rest: Captures) => string;
  /** Texts without a digit need not try it. */
  readonly needsDigit: boolean;
}

/** Groups that took no part are undefined; after the groups come the place and the whole text. */
export type Captures = (string | undefined)[];

/** A number as written: digits, thousands in threes, a fraction. */
export const NUMBER = `[${DIGIT}]+(?:,[${DIGIT}]{3})*(?:\\.[${DIGIT}]+)?`;

export function rewriting(
  pattern: string,
  write: (match: string, ...rest: Captures) => string,
  { needsDigit = false } = {},
): Rewriting {
  return { pattern: new RegExp(pattern, "gu"), write, needsDigit };
}

/** The alternation of some strings; the longest are tried first. */
export function alternatives(strings: Iterable<string>): string {
  return [...strings]
    .sort((a, b) => b.length - a.length)
    .map(escapePattern)
    .join("|");
}

/** The singular for exactly one, as 1 or 1.0, else the plural. */
export function counted(count: string, forms: readonly [string, string]): string {
  const value = count.replaceAll(",", "");
  return value === "1" || value === "1.0" || value === "-1" ? forms[0] : forms[1];
}

/** The place and the whole text, from the end of what a writer is given. */
export function placeOf(rest: Captures): { readonly at: number; readonly text: string } {
  return { at: Number(rest.at(-2)), text: String(rest.at(-1)) };
}
