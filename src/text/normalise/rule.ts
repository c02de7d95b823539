import { escapePattern } from "../characters.ts";

/** What a part of a text is said as, in plain words, and where that part ends. */
export interface Spoken {
  readonly words: string;
  readonly end: number;
}

/**
 * One kind of token (a date, a sum of money, a web address …): its spoken form where one begins at a place of the text,
 * else null. Patterns are bounded, and so is the context looked at, so that no text takes long.
 */
export type TokenRule = (text: string, at: number) => Spoken | null;

/** Ranges for the properties that patterns name: letters of the alphabets that take part in English texts and more. */
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
const PROPERTY = /\\([pP])\{(\w+)\}/g;

/** How far back the words around a token are looked at. */
const REACH = 60;
const WORD_AFTER = withRanges(/^ ([\p{L}']+)/u);
const CHARACTER = withRanges(/[\p{L}\p{N}_]/u);

/** A pattern that is tried at one place only, and must not end within a word or number. */
export function pattern(source: string, flags = ""): RegExp {
  return withRanges(new RegExp(`(?:${source})(?![\\p{L}\\p{N}_])`, `yu${flags}`));
}

/** The source of alternatives that are words as they are written; the longest are tried first. */
export function alternatives(strings: Iterable<string>): string {
  return [...strings]
    .sort((a, b) => b.length - a.length)
    .map(escapePattern)
    .join("|");
}

/** The source of a group of alternatives: patterns with a space between each. */
export function oneOf(patterns: string): string {
  return `(?:${patterns.replaceAll(" ", "|")})`;
}

/** What a pattern finds at a place; groups that took no part are undefined. */
export function matchAt(regex: RegExp, text: string, at: number): RegExpExecArray | null {
  regex.lastIndex = at;
  return regex.exec(text);
}

/** What a pattern found, in these words. */
export function spoken(match: RegExpExecArray, words: string): Spoken {
  return { words, end: match.index + match[0].length };
}

/** The kind that one pattern tells, said in the words that are made of what it finds. */
export function patternRule(pattern: RegExp, words: (match: RegExpExecArray) => string): TokenRule {
  return (text, at) => {
    const match = matchAt(pattern, text, at);
    return match === null ? null : spoken(match, words(match));
  };
}

/** What the first of some kinds that fits makes of a place. */
export function firstMatch(kinds: readonly TokenRule[], text: string, at: number): Spoken | null {
  for (const kind of kinds) {
    const found = kind(text, at);
    if (found !== null) return found;
  }
  return null;
}

/** The text before a place, as far as context reaches. */
export function before(text: string, at: number): string {
  return text.slice(Math.max(0, at - REACH), at);
}

/** The text from a place on, as far as context reaches. */
export function after(text: string, end: number): string {
  return text.slice(end, end + REACH);
}

/** The word that begins after a place and a space; "" where anything else does. */
export function wordAfter(text: string, end: number): string {
  return WORD_AFTER.exec(after(text, end))?.[1] ?? "";
}

/** Whether a character is part of a word or number; "" is none. */
export function isWordCharacter(character: string): boolean {
  return CHARACTER.test(character);
}

/** Where an abbreviation's full stop ends: behind it, or before it where it ends the sentence too. */
export function endAfterStop(text: string, end: number): number {
  if (text.charAt(end) !== ".") return end;
  return /^\.["”’')\]]*$/u.test(text.slice(end, end + 4)) ? end : end + 1;
}

/** Whether a quotation is open at a place, which a sign of inches there would close. */
export function isQuoted(text: string, at: number): boolean {
  const quotes = text.slice(Math.max(0, at - 200), at).match(/(?<!\d)["“]/gu)?.length ?? 0;
  return quotes % 2 === 1;
}

/**
 * The same pattern with ranges for `\p{L}` and its like. A pattern that names Unicode properties takes half a
 * millisecond to compile, twenty-five times as long, and would do so while somebody waits for the first sound.
 */
export function withRanges(pattern: RegExp): RegExp {
  let source = "";
  let isInClass = false;
  for (let at = 0; at < pattern.source.length; ) {
    PROPERTY.lastIndex = at;
    const character = pattern.source.charAt(at);
    const property = character === "\\" ? propertyAt(pattern.source, at) : null;
    if (property !== null) {
      source += isInClass ? property.ranges : `[${property.isNegated ? "^" : ""}${property.ranges}]`;
      at += property.length;
      continue;
    }
    const length = character === "\\" ? 2 : 1;
    if (character === "[") isInClass = true;
    else if (character === "]") isInClass = false;
    source += pattern.source.slice(at, at + length);
    at += length;
  }
  return new RegExp(source, pattern.flags);
}

interface Property {
  readonly ranges: string;
  readonly isNegated: boolean;
  readonly length: number;
}

function propertyAt(source: string, at: number): Property | null {
  PROPERTY.lastIndex = at;
  const match = PROPERTY.exec(source);
  const ranges = RANGES.get(match?.[2] ?? "");
  if (match === null || match.index !== at || ranges === undefined) return null;
  return { ranges, isNegated: match[1] === "P", length: match[0].length };
}
