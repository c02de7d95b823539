import { escapePattern } from "../characters.ts";

export interface Spoken {
  readonly words: string;
  readonly end: number;
}

/**
 * Returns the words for a token of one class (a date, a sum of money …) that begins at a position, or `null`.
 * Patterns and the context they see are bounded, so that no text takes long.
 */
export type TokenRule = (text: string, at: number) => Spoken | null;

/** Explicit ranges for Unicode properties, limited to alphabets that occur in English texts. */
const RANGES: ReadonlyMap<string, string> = new Map([
  [
    "L",
    "A-Za-z\\xaa\\xb5\\xba\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\u02ff\\u0370-\\u1fff\\u2c00-\\u2dff\\u3040-\\ud7ff",
  ],
  ["Lu", "A-Z\\xc0-\\xd6\\xd8-\\xde\\u0391-\\u03a9\\u0400-\\u042f"],
  ["Ll", "a-z\\xdf-\\xf6\\xf8-\\xff\\u03b1-\\u03c9\\u0430-\\u045f"],
  ["N", "0-9\\xb2\\xb3\\xb9\\xbc-\\xbe\\u2070-\\u2089\\u2150-\\u2189"],
  ["Nd", "0-9"],
  ["Co", "\\ue000-\\uf8ff"],
]);
const TOKEN = /\\([pP])\{(\w+)\}|\\.|[[\]]/gsu;

/** Characters of context before and after a token. */
const REACH = 60;
const WORD_AFTER = withRanges(/^ ([\p{L}']+)/u);
const CHARACTER = withRanges(/[\p{L}\p{N}_]/u);

/** Compiles a sticky pattern that must not end within a word or number. */
export function pattern(source: string, flags = ""): RegExp {
  return withRanges(`(?:${source})(?![\\p{L}\\p{N}_])`, `yu${flags}`);
}

/** Returns the source of alternatives, escaped, longest first. */
export function alternatives(strings: Iterable<string>): string {
  return [...strings]
    .sort((a, b) => b.length - a.length)
    .map(escapePattern)
    .join("|");
}

/** Returns the source of a group of alternatives, which are patterns separated by spaces. */
export function oneOf(patterns: string): string {
  return `(?:${patterns.replaceAll(" ", "|")})`;
}

/** Matches a sticky pattern at a position. */
export function matchAt(regex: RegExp, text: string, at: number): RegExpExecArray | null {
  regex.lastIndex = at;
  return regex.exec(text);
}

export function spoken(match: RegExpExecArray, words: string): Spoken {
  return { words, end: match.index + match[0].length };
}

export function patternRule(pattern: RegExp, words: (match: RegExpExecArray) => string): TokenRule {
  return (text, at) => {
    const match = matchAt(pattern, text, at);
    return match === null ? null : spoken(match, words(match));
  };
}

export function firstMatch(kinds: readonly TokenRule[], text: string, at: number): Spoken | null {
  for (const kind of kinds) {
    const found = kind(text, at);
    if (found !== null) return found;
  }
  return null;
}

export function before(text: string, at: number): string {
  return text.slice(Math.max(0, at - REACH), at);
}

export function after(text: string, end: number): string {
  return text.slice(end, end + REACH);
}

/** Returns the word after a position and a space, or "". */
export function wordAfter(text: string, end: number): string {
  return WORD_AFTER.exec(after(text, end))?.[1] ?? "";
}

export function isWordCharacter(character: string): boolean {
  return CHARACTER.test(character);
}

/** Returns the position after an abbreviation's stop, or before it if it also ends the sentence. */
export function endAfterStop(text: string, end: number): number {
  if (text.charAt(end) !== ".") return end;
  return /^\.["”’')\]]*$/u.test(text.slice(end, end + 4)) ? end : end + 1;
}

/** Returns whether a quotation is open, which an inch sign at this position would close. */
export function isQuoted(text: string, at: number): boolean {
  const quotes = text.slice(Math.max(0, at - 200), at).match(/(?<!\d)["“]/gu)?.length ?? 0;
  return quotes % 2 === 1;
}

/**
 * Replaces `\p{L}` and the like by explicit ranges. Unicode properties take half a millisecond to compile, 25 times
 * as long, while a request may be waiting.
 */
export function withRanges(
  pattern: RegExp | string,
  flags = typeof pattern === "string" ? "u" : pattern.flags,
): RegExp {
  const written = typeof pattern === "string" ? pattern : pattern.source;
  let isInClass = false;
  const source = written.replace(TOKEN, (token: string, letter?: string, property = "") => {
    const ranges = RANGES.get(property);
    if (ranges !== undefined) return isInClass ? ranges : `[${letter === "P" ? "^" : ""}${ranges}]`;
    if (token === "[" || token === "]") isInClass = token === "[";
    return token;
  });
  return new RegExp(source, flags);
}
