import { digitValue, wordMap } from "../characters.ts";
import {
  cardinal,
  decimalWords,
  digitNames,
  ordinal,
  parseInteger,
  romanValue,
  yearWords,
} from "../normalise/number-words.ts";
import { monthName, monthOf } from "../normalise/rules/dates.ts";

/** Returns words for the content, or `null` if it does not fit the interpretation. */
type Say = (content: string, format: string) => string | null;

/**
 * Returns the words of a `say-as`, or `null` if its content does not fit. Interpretations without a rule are read as
 * plain text.
 */
export function sayAsWords(interpretAs: string, format: string, content: string): string | null {
  const say = KINDS.get(interpretAs);
  if (say === undefined) return content;
  return content.length > MAX_CONTENT_CHARS ? null : say(content, format);
}

/**
 * Returns how an `interpret-as` is supported: by a rule here, by the normaliser, or not at all; `null` if it is
 * unknown.
 */
export function supportOf(interpretAs: string): "said" | "read" | "left" | null {
  if (KINDS.has(interpretAs)) return "said";
  if (READ.has(interpretAs)) return "read";
  return LEFT.has(interpretAs) ? "left" : null;
}

const characters: Say = (content) => {
  const said = Array.from(content.normalize("NFC"), nameOf).filter((name) => name !== "");
  return said.length === 0 ? null : said.join(" ");
};

const digits: Say = (content) => {
  if (!/\p{Nd}/u.test(content)) return null;
  return characters(content.replaceAll(/[\s,.()-]/g, ""), "");
};

const cardinalNumber: Say = (content) => {
  const [, sign = "", number] =
    /^([+\u2212-]?)(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)$/u.exec(content) ?? [];
  const plain = number?.replaceAll(",", "");
  const roman = romanIn(content);
  if (plain === undefined) return roman === null ? null : cardinal(roman);
  if (plain.length > MAX_NUMBER_CHARS) return digits(plain, "");
  return `${sign === "" || sign === "+" ? "" : "minus "}${plain.includes(".") ? decimalWords(plain) : cardinal(parseInteger(plain))}`;
};

const ordinalNumber: Say = (content) => {
  const [, number] = /^(\d{1,3}(?:,\d{3})+|\d+)(?:st|nd|rd|th|\.)?$/iu.exec(content) ?? [];
  const roman = romanIn(content);
  if (number === undefined) return roman === null ? null : ordinal(roman);
  return number.length > MAX_NUMBER_CHARS ? null : ordinal(parseInteger(number));
};

const telephone: Say = (content) => {
  const groups = content.match(/\d+|\+|[*#]|[a-z]+/giu) ?? [];
  if (!groups.some((group) => /\d/.test(group)) || /[^\d\sa-z+*#()./\u2010-\u2015-]/iu.test(content))
    return null;
  const parts: string[] = [];
  let prefix = "";
  for (const group of groups) {
    if (group === "+") prefix = "plus ";
    else if (/^(?:ext|extension|x)$/i.test(group)) prefix = "extension ";
    else {
      const said = /^\d/.test(group) ? blocks(group).map(digitNames).join(", ") : (SIGNS.get(group) ?? group);
      parts.push(prefix + said);
      prefix = "";
    }
  }
  return parts.join(", ");
};

/** Groups a number without separators as North American numbers are. */
function blocks(number: string): string[] {
  const sizes: Readonly<Record<number, readonly number[]>> = { 7: [3, 4], 10: [3, 3, 4], 11: [1, 3, 3, 4] };
  let rest = number;
  return (sizes[number.length] ?? [number.length]).map((size) => {
    const block = rest.slice(0, size);
    rest = rest.slice(size);
    return block;
  });
}

const date: Say = (content, format) => {
  const [, year, month, day] = /^(\d{4})-?(\d{2})-?(\d{2})$/.exec(content) ?? [];
  if (year !== undefined && (format === "" || /^y+m+d+$/i.test(format)))
    return dateWords({ y: year, m: month!, d: day! });
  const order = format.toLowerCase().replaceAll(/([dmy])\1+/g, "$1");
  // The normaliser reads dates without a format and month names.
  if (format === "") return /\d/.test(content) ? content : null;
  if (!/^(?:mdy|dmy|ymd|ydm|md|dm|ym|my|d|m|y)$/.test(order)) return null;
  const parts = content.split(/[^\p{L}\p{Nd}]+/u).filter((part) => part !== "");
  if (parts.length !== order.length) return null;
  const named: Partial<Record<"d" | "m" | "y", string>> = {};
  for (const [at, field] of [...order].entries()) named[field as "d" | "m" | "y"] = parts[at]!;
  return dateWords(named);
};

function dateWords({ d, m, y }: Partial<Record<"d" | "m" | "y", string>>): string | null {
  const month = m === undefined ? undefined : /^\d+$/.test(m) ? monthName(Number(m)) : monthOf(m);
  const day = d === undefined ? undefined : Number(/^(\d{1,2})(?:st|nd|rd|th)?$/i.exec(d)?.[1]);
  const isDay = day === undefined || (day >= 1 && day <= 31);
  if ((m !== undefined && !month) || !isDay || (y !== undefined && !/^\d{1,4}$/.test(y))) return null;
  const year = y === undefined ? undefined : y.length === 2 ? twoDigitYear(y) : yearWords(Number(y));
  if (month === undefined) return day === undefined ? (year ?? null) : ordinal(day);
  const before = day === undefined ? month : `${month} ${ordinal(day)}`;
  return year === undefined ? before : `${before}${day === undefined ? "" : ","} ${year}`;
}

/** "05" → "oh five". */
function twoDigitYear(year: string): string {
  const value = Number(year);
  return value < 10 ? `oh ${cardinal(value)}` : cardinal(value);
}

/** Returns a letter's name in phonemes, the name of a digit or sign, or "" for a space. */
function nameOf(character: string): string {
  const letter = character.normalize("NFD").charAt(0).toUpperCase();
  const said = LETTERS.get(letter);
  if (said !== undefined) return `[${letter}](/${said}/)`;
  if (digitValue(character) >= 0) return digitNames(character);
  return /\s/u.test(character) ? "" : (SIGNS.get(character) ?? character);
}

function romanIn(content: string): number | null {
  return /^[IVXLCDM]{1,15}$/.test(content) ? romanValue(content) : null;
}

const LETTERS = wordMap(
  "A ˈA,B bˈi,C sˈi,D dˈi,E ˈi,F ˈɛf,G ʤˈi,H ˈAʧ,I ˈI,J ʤˈA,K kˈA,L ˈɛl,M ˈɛm,N ˈɛn,O ˈO,P pˈi,Q kjˈu," +
    "R ˈɑɹ,S ˈɛs,T tˈi,U jˈu,V vˈi,W dˈʌbᵊlju,X ˈɛks,Y wˈI,Z zˈi",
);

const SIGNS: ReadonlyMap<string, string> = new Map([
  ...wordMap(
    ". dot,- dash,_ underscore,/ slash,\\ backslash,@ at,# pound,* star,+ plus,= equals,& and,% percent," +
      "$ dollar,: colon,; semicolon,! exclamation mark,? question mark,' apostrophe,\" quote," +
      "( open parenthesis,) close parenthesis,< less than,> greater than,[ open bracket,] close bracket," +
      "~ tilde,^ caret,| bar",
  ),
  [",", "comma"],
]);

const number: Say = (content, format) => (KINDS.get(format) ?? cardinalNumber)(content, "");

const KINDS: ReadonlyMap<string, Say> = new Map([
  ...["characters", "character", "spell-out", "spell", "letters", "verbatim"].map(
    (name) => [name, characters] as const,
  ),
  ["digits", digits],
  ["cardinal", cardinalNumber],
  ["ordinal", ordinalNumber],
  ["number", number],
  ["telephone", telephone],
  ["date", date],
]);
/** Interpretations that the normaliser covers. */
const READ: ReadonlySet<string> = new Set(
  "time duration currency money measure unit fraction address name net url uri email acronym".split(" "),
);
const LEFT: ReadonlySet<string> = new Set("expletive bleep interjection".split(" "));

export const INTERPRETATIONS: readonly string[] = [...KINDS.keys(), ...READ, ...LEFT];

const MAX_CONTENT_CHARS = 500;
const MAX_NUMBER_CHARS = 60;
