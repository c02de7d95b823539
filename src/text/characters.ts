/**
 * Unicode character classes, as members of a bracketed class in a `u` regular expression: new RegExp(`[${WORD}]`,
 * "u"). JavaScript's own `\w`, `\d` and `\b` cover ASCII only, and its `\s` differs.
 */
export const LETTER = "\\p{L}";
export const DIGIT = "\\p{Nd}";
export const WORD = "\\p{L}\\p{N}_";
/** Word characters that are neither decimal digits nor `_`: letters, and numbers such as `²` and `½`. */
export const WORD_LETTER = "\\p{L}\\p{Nl}\\p{No}";
export const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

const ALL_LETTERS = /^\p{L}+$/u;
const ALL_DECIMALS = /^\p{Nd}+$/u;
const SMALL = /\p{Lowercase}/u;
const NOT_SMALL = /[\p{Uppercase}\p{Lt}]/u;
const CAPITAL = /\p{Uppercase}/u;
const NOT_CAPITAL = /[\p{Lowercase}\p{Lt}]/u;
const NON_ASCII = /[^\x00-\x7f]/;

/**
 * Digits outside `\p{Nd}`, such as superscripts: code points in hexadecimal and the value of the first. Source: Unicode
 * Character Database, Numeric_Type=Digit.
 */
const OTHER_DIGITS: readonly (readonly [first: number, last: number, value: number])[] = Array.from(
  wordMap(
    "b2-b3 2,b9 1,1369-1371 1,19da 1,2070 0,2074-2079 4,2080-2089 0,2460-2468 1,2474-247c 1," +
      "2488-2490 1,24ea 0,24f5-24fd 1,24ff 0,2776-277e 1,2780-2788 1,278a-2792 1,10a40-10a43 1," +
      "10e60-10e68 1,11052-1105a 1,1f100 0,1f101-1f10a 0",
  ),
  ([range, value]) => {
    const [first = 0, last = first] = range.split("-").map((code) => Number.parseInt(code, 16));
    return [first, last, Number(value)];
  },
);

export function isSpaceCode(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 9 && code <= 13) || (code >= 0x1c && code <= 0x1f);
  return (
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

/** Removes spaces from both ends, in linear time. */
export function strip(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpaceCode(text.charCodeAt(start))) start++;
  while (end > start && isSpaceCode(text.charCodeAt(end - 1))) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

export function isAscii(text: string): boolean {
  return !NON_ASCII.test(text);
}

export function isAllLetters(text: string): boolean {
  return ALL_LETTERS.test(text);
}

/** Returns the value of a digit in any script, or -1. */
export function digitValue(character: string): number {
  const code = character.codePointAt(0);
  if (code === undefined) return -1;
  if (code < 0x80) return code >= 0x30 && code <= 0x39 ? code - 0x30 : -1;
  if (ALL_DECIMALS.test(character)) return decimalValue(code);
  for (const [first, last, value] of OTHER_DIGITS)
    if (code >= first && code <= last) return value + code - first;
  return -1;
}

export function isAllDigits(text: string): boolean {
  if (text === "") return false;
  for (const character of text) if (digitValue(character) < 0) return false;
  return true;
}

/** Returns whether a text has a letter with case, and no capital. */
export function isLower(text: string): boolean {
  return SMALL.test(text) && !NOT_SMALL.test(text);
}

/** Returns whether a text has a letter with case, and only capitals. */
export function isUpper(text: string): boolean {
  return CAPITAL.test(text) && !NOT_CAPITAL.test(text);
}

export function capitalise(text: string): string {
  const first = firstCharacter(text);
  return first.toUpperCase() + text.slice(first.length).toLowerCase();
}

export function firstCharacter(text: string): string {
  const code = text.codePointAt(0);
  return code === undefined ? "" : String.fromCodePoint(code);
}

export function lastCharacters(text: string, count: number): string {
  let start = text.length;
  for (let i = 0; i < count && start > 0; i++) {
    const low = text.charCodeAt(start - 1);
    const pair = low >= 0xdc00 && low <= 0xdfff && start > 1 && isHighSurrogate(text.charCodeAt(start - 2));
    start -= pair ? 2 : 1;
  }
  return text.slice(start);
}

export function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

export function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

/** Makes a map of "IL Illinois,NY New York": a comma between entries, a space after each key. */
export function wordMap(pairs: string): ReadonlyMap<string, string> {
  return new Map(
    pairs.split(",").map((pair) => {
      const space = pair.indexOf(" ");
      return [pair.slice(0, space), pair.slice(space + 1)];
    }),
  );
}

/** Escapes a text for use outside brackets in a `u` regular expression. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** Counts back to the zero of a run of ten decimal digits. Several runs may adjoin. */
function decimalValue(code: number): number {
  let back = 0;
  while (back < 50 && ALL_DECIMALS.test(String.fromCodePoint(code - back - 1))) back++;
  return back % 10;
}

/** Returns whether a text has a letter or number of any script, so that there is something to speak. */
export function hasSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
