import {
  DIGIT,
  LETTER,
  SPACE,
  WORD,
  WORD_LETTER,
} from "../characters.ts"; /** Prefixes and suffixes of tokens, after spaCy's English tokeniser (MIT). Scanners instead of regular expressions keep long runs of marks linear. */

const MARKS = "…,:;!?¿¡()[]{}<>_#*&。？！，、；：～·";
export const QUOTES = "'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉";
export const ICONS = "™®©°§¶†‡•";
const MONEY = "$£€¥฿₽₹₩₪₺₴₦₫₱₲₵₸₼₾₿";
const MONEY_LETTERS = ["US$", "C$", "A$"];
const SINGLE_PREFIXES: ReadonlySet<string> = new Set(`§%=—–${MARKS}${QUOTES}${MONEY}${ICONS}`);
const SINGLE_SUFFIXES: ReadonlySet<string> = new Set(`${MARKS}${QUOTES}${ICONS}—–`);
const UNITS: readonly string[] = (
  "km km² km³ m m² m³ dm dm² dm³ cm cm² cm³ mm mm² mm³ ha µm nm yd in ft kg g mg µg t lb oz m/s km/h kmh mph hPa " +
  "Pa mbar mb MB kb KB gb GB tb TB T G M K %"
).split(" ");
const AFTER_DIGIT: readonly string[] = ["+", ...MONEY, ...MONEY_LETTERS, ...UNITS].sort(
  (a, b) => b.length - a.length,
);
/** A full stop is split off after digits, lower-case letters and these. */
const BEFORE_STOP: ReadonlySet<string> = new Set(`%²-+${MARKS}${QUOTES}`);

/** Returns the length of the first token in UTF-16 units, or 0. */
export function prefixLength(text: string, start: number, end: number): number {
  if (start >= end) return 0;
  const first = text.charAt(start);
  if (first === "+") return isAsciiDigit(text, start + 1, end) ? 0 : 1;
  if (first === ".") {
    const dots = runOfDots(text, start, end);
    return dots > 1 ? dots : 0;
  }
  if (SINGLE_PREFIXES.has(first)) return 1;
  for (const sign of MONEY_LETTERS)
    if (start + sign.length <= end && text.startsWith(sign, start)) return sign.length;
  return 0;
}

/** Returns the length of the longest last token in UTF-16 units, or 0. Ignores what is before `start`. */
export function suffixLength(text: string, start: number, end: number): number {
  if (start >= end) return 0;
  const last = text.charAt(end - 1);
  const before = end - 2 >= start ? text.charAt(end - 2) : "";
  if (last === ".") {
    let dots = 1;
    while (end - dots > start && text[end - dots - 1] === ".") dots++;
    if (dots > 1) return dots;
    return endsSentence(text, start, end) ? 1 : 0;
  }
  if (last === "…" && before === "…") return 2;
  if ((last === "s" || last === "S") && (before === "'" || before === "’")) return 2;
  for (const unit of AFTER_DIGIT) {
    const at = end - unit.length;
    if (at > start && isAsciiDigit(text, at - 1, end) && text.startsWith(unit, at)) return unit.length;
  }
  return SINGLE_SUFFIXES.has(last) ? 1 : 0;
}

function endsSentence(text: string, start: number, end: number): boolean {
  const before = end - 2 >= start ? text.charAt(end - 2) : "";
  if (before === "") return false;
  if (isAsciiDigit(text, end - 2, end) || /[a-zß-öø-ÿ]/.test(before) || BEFORE_STOP.has(before)) return true;
  const second = end - 3 >= start ? text.charAt(end - 3) : "";
  if (second === "°" && "FfCcKk".includes(before)) return true;
  return /^[A-ZÀ-ÖØ-Þ]{2}$/.test(second + before);
}

function runOfDots(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && text[at] === ".") at++;
  return at - start;
}

function isAsciiDigit(text: string, at: number, end: number): boolean {
  if (at < 0 || at >= end) return false;
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

export interface Token {
  readonly text: string;
  /** Start in the text, in UTF-16 units. */
  readonly from: number;
  readonly spaceAfter: boolean;
}

export type Tokeniser = (text: string) => Token[];

const SMALL = "a-zß-öø-ÿ";
const CAPITAL = "A-ZÀ-ÖØ-Þ";
const NON_SPACES = new RegExp(`[^${SPACE}]+`, "gu");
const INFIX = new RegExp(
  [
    "\\.\\.+",
    "…",
    `[${ICONS}]`,
    "(?<=[0-9])[+\\-*\\^](?=[0-9\\-])",
    `(?<=[${SMALL}${QUOTES}])\\.(?=[${CAPITAL}${QUOTES}])`,
    `(?<=[${WORD_LETTER}]),(?=[${WORD_LETTER}])`,
    `(?<=[${LETTER}\\p{N}])(?:-|–|—|--|---|——|~)(?=[${WORD_LETTER}])`,
    `(?<=[${LETTER}\\p{N}])[:<>=/](?=[${WORD_LETTER}])`,
  ].join("|"),
  "gu",
);
const DOMAINS = "com|org|net|edu|gov|io|co|uk|de|fr|info|biz|us|ca|au|tv|me|ly|ai";
const ADDRESS = new RegExp(
  [
    `^(?:(?:https?|ftp)://|www\\.)[^${SPACE}]+$`,
    `^[${WORD}.+\\-]+@[${WORD}\\-]+(?:\\.[${WORD}\\-]+)+$`,
    `^(?:[${WORD}\\-]+\\.)+(?:${DOMAINS})(?:/[^${SPACE}]*)?$`,
  ].join("|"),
  "iu",
);

/**
 * Tokenises like spaCy's English tokeniser: splits marks off both ends of each run of non-spaces, then splits inside
 * at hyphens, slashes and the like. `exceptions` (contractions, "Mr.", "10am") have fixed tokens.
 */
export function createTokeniser(exceptions: ReadonlyMap<string, readonly string[]>): Tokeniser {
  const maxChars = Math.max(...Array.from(exceptions.keys(), (key) => key.length));
  const exception = (text: string, start: number, end: number): readonly string[] | undefined =>
    end - start > maxChars || end <= start ? undefined : exceptions.get(text.slice(start, end));

  return (text) => {
    const tokens: Token[] = [];
    for (const match of text.matchAll(NON_SPACES)) {
      const [run] = match;
      const pieces = exceptions.get(run) ?? rejoin(split(run));
      const goesOn = match.index + run.length < text.length;
      let from = match.index;
      for (const [index, piece] of pieces.entries()) {
        tokens.push({ text: piece, from, spaceAfter: goesOn && index === pieces.length - 1 });
        from += piece.length;
      }
    }
    return tokens;
  };

  function split(run: string): string[] {
    const before: string[] = [];
    const after: string[] = [];
    let start = 0;
    let end = run.length;
    for (
      let length = -1;
      end > start && end - start !== length && exception(run, start, end) === undefined;
    ) {
      length = end - start;
      const prefix = prefixLength(run, start, end);
      if (prefix > 0 && exception(run, start + prefix, end) !== undefined) {
        before.push(run.slice(start, start + prefix));
        start += prefix;
        break;
      }
      const suffix = suffixLength(run, start + prefix, end);
      if (suffix > 0 && exception(run, start, end - suffix) !== undefined) {
        after.push(run.slice(end - suffix, end));
        end -= suffix;
        break;
      }
      if (prefix > 0) {
        before.push(run.slice(start, start + prefix));
        start += prefix;
      }
      if (suffix > 0) {
        after.push(run.slice(end - suffix, end));
        end -= suffix;
      }
    }
    const middle = end === start ? [] : (exception(run, start, end) ?? splitInside(run.slice(start, end)));
    return [...before, ...middle, ...after.reverse()];
  }

  /** Joins neighbours that together are an exception ("Sept" + "."). */
  function rejoin(pieces: readonly string[]): readonly string[] {
    if (pieces.length < 2) return pieces;
    const joined: string[] = [];
    for (let at = 0; at < pieces.length; ) {
      const [first = "", second, third] = pieces.slice(at, at + 3);
      const three =
        second === undefined || third === undefined ? undefined : exceptionOf(first + second + third);
      const two = second === undefined ? undefined : exceptionOf(first + second);
      joined.push(...(three ?? two ?? [first]));
      at += three !== undefined ? 3 : two !== undefined ? 2 : 1;
    }
    return joined;
  }

  function exceptionOf(text: string): readonly string[] | undefined {
    return text.length > maxChars ? undefined : exceptions.get(text);
  }
}

const DOUBLE: ReadonlySet<string> = new Set(['"', "“", "”", "„", "«", "»"]);
const OPENS_AFTER: ReadonlySet<string> = new Set(["(", "[", "{", "—", "–", "-", "/", "'", "‘"]);

/**
 * Tags double quotes, which the tagger was not trained on: "``" opening, "''" closing. A straight quote opens at the
 * start of a word.
 */
export function markQuotes(tokens: readonly Token[]): (string | null)[] {
  return tokens.map((token, index) => {
    if (!DOUBLE.has(token.text)) return null;
    if (token.text === "“" || token.text === "„" || token.text === "«") return "``";
    if (token.text === "”" || token.text === "»") return "''";
    const before = tokens[index - 1];
    const begins = before === undefined || before.spaceAfter || OPENS_AFTER.has(before.text);
    return begins && !token.spaceAfter ? "``" : "''";
  });
}

const V = `[${WORD_LETTER}]`;
const D = `[${DIGIT}]`;
const APOSTROPHE = "['‘’]";

const SUB_TOKEN = new RegExp(
  [
    `^${APOSTROPHE}+`,
    `[${CAPITAL}](?=[${CAPITAL}][${SMALL}])`,
    `(?:^-)?(?:${D}?[,.]?${D})+`,
    "[\\-_]+",
    `${APOSTROPHE}{2,}`,
    `${V}*?(?:${APOSTROPHE}${V})*?[${SMALL}](?=[${CAPITAL}])`,
    `${V}+(?:${APOSTROPHE}${V})*`,
    `[^${WORD}\\-'‘’]`,
    `${APOSTROPHE}+$`,
  ].join("|"),
  "gu",
);
const WHOLE = /^[a-z]+$/;

/** "iPhone" → i Phone, "A113" → A 113. */
export function subTokens(token: string): readonly string[] {
  return WHOLE.test(token) ? [token] : (token.match(SUB_TOKEN) ?? []);
}

function splitInside(text: string): string[] {
  if (ADDRESS.test(text)) return [text];
  const pieces: string[] = [];
  let from = 0;
  for (const match of text.matchAll(INFIX)) {
    if (match.index === 0) continue;
    if (match.index > from) pieces.push(text.slice(from, match.index));
    pieces.push(match[0]);
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}
