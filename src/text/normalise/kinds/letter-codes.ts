import { before, firstOf, type Kind, kindOf, matchAt, spoken, withRanges } from "../kind.ts";
import { cardinalWords, digitWords, ordinalWords } from "../numerals.ts";
import { spelled } from "./identifiers.ts";
import { UNITS } from "./units.ts";

/** Letters among digits: "7K2M9P", the plate "8ABC123". */
const MIXED = withRanges(
  /(?=[A-Z\d]{5,12}(?![\p{L}\p{N}_]))[A-Z]{0,4}\d{1,4}(?:[A-Z]{1,4}\d{1,4}){1,5}[A-Z]{0,4}(?![\p{L}\p{N}_-])/uy,
);
const STARTS_AND_ENDS_IN_LETTERS = /^[A-Z]+\d+[A-Z]+$/u;
/** A quarter, a video's lines and rate. */
const NO_CODE = /(?:19|20)\d{2}[QHW]|^\d{3,4}[PI]\d|^\d+X\d+$/u;
/** "1ST", "22ND" in capitals. */
const ORDINAL = withRanges(
  /(\d{0,3}(?:(?<!1)1(?=ST)|(?<!1)2(?=ND)|(?<!1)3(?=RD)|\d(?=TH)))(?:ST|ND|RD|TH)(?![\p{L}\p{N}_])/uy,
);
const INITIALS = withRanges(/(\d{1,2})([A-Z]{2,3})(?![\p{L}\p{N}_'’-])/uy);
const NO_INITIALS = /^(?:ST|ND|RD|TH|AM|PM|BC|AD|BCE|CE|HRS?|LBS?|FT|KM|KG|MIN|SEC|DAY|OUT|AND|OFF|ALL)$/u;

const RUNWAY = withRanges(/(\d{1,2})([LRC])(?![\p{L}\p{N}])/uy);
const RUNWAY_BEFORE = /\b(?:[Rr]unways?|RWY)\b[^.]{0,20}$/u;
const SIDES: ReadonlyMap<string, string> = new Map([
  ["L", "left"],
  ["R", "right"],
  ["C", "center"],
]);
/** "q4-6h", as on prescriptions. */
const EVERY = withRanges(/[qQ](\d{1,2})(?:[-–](\d{1,2}))? ?h(?:rs?)?(?![\p{L}\p{N}])/uy);

/** Codes of letters and digits one by one: "7K2M9P"; initials behind a number: "2FA" → "two F A". */
export const letterCode: Kind = (text, at) => {
  const ordinal = matchAt(ORDINAL, text, at);
  if (ordinal !== null) return spoken(ordinal, ordinalWords(ordinal[1] ?? ""));
  const mixed = matchAt(MIXED, text, at);
  if (mixed !== null && !NO_CODE.test(mixed[0]) && !STARTS_AND_ENDS_IN_LETTERS.test(mixed[0]))
    return spoken(mixed, oneByOne(mixed[0]));
  const runway = matchAt(RUNWAY, text, at);
  if (runway !== null && RUNWAY_BEFORE.test(before(text, at)))
    return spoken(runway, `${digitWords(runway[1] ?? "")} ${SIDES.get(runway[2] ?? "")}`);
  const hours = matchAt(EVERY, text, at);
  if (hours !== null) {
    const to = hours[2] === undefined ? "" : ` to ${cardinalWords(hours[2])}`;
    return spoken(hours, `every ${cardinalWords(hours[1] ?? "")}${to} hours`);
  }
  const match = matchAt(INITIALS, text, at);
  if (match === null) return null;
  const [, digits = "", letters = ""] = match;
  if (NO_INITIALS.test(letters) || UNITS.has(letters) || UNITS.has(letters.toLowerCase())) return null;
  return spoken(match, `${cardinalWords(digits)} ${spelled(letters)}`);
};

const END = "(?![\\p{L}\\p{N}_])";
/** "#FF5733": six hexadecimal digits that are neither a number nor a word. */
export const COLOR = /^#(?=[\da-f]{0,5}\d)(?=\d{0,5}[a-f])[\da-f]{6}$/iu;
const COLOR_HERE = withRanges(new RegExp(`#(?=[\\da-f]{0,5}\\d)(?=\\d{0,5}[a-f])([\\da-f]{6})${END}`, "iuy"));
const PREFIXED = withRanges(new RegExp(`0[xX]([\\da-fA-F]{1,16})${END}`, "uy"));
const UUID = withRanges(new RegExp(`[\\da-fA-F]{8}(?:-[\\da-fA-F]{4}){3}-[\\da-fA-F]{12}${END}`, "uy"));
const MAC = withRanges(new RegExp(`[\\dA-Fa-f]{2}([:-])[\\dA-Fa-f]{2}(?:\\1[\\dA-Fa-f]{2}){4}${END}`, "uy"));
/** A short or long hash: letters and digits, each kind twice at least by turns. */
const HASH = withRanges(
  new RegExp(
    `(?=[a-f]{0,6}\\d{1,6}[a-f]{1,6}\\d|\\d{0,6}[a-f]{1,6}\\d{1,6}[a-f]|\\d{1,6}[a-f]{2,6}\\d{2})[\\da-f]{7,64}${END}`,
    "uy",
  ),
);

/** Numbers of parcels and cars: letters and digits too many for a word. */
const SERIAL = withRanges(
  new RegExp(`(?=[A-Z]{0,10}\\d)(?=\\d{0,20}[A-Z])(?=\\D{0,8}\\d\\D{0,8}\\d)[A-Z\\d]{11,40}${END}`, "uy"),
);

/** Hexadecimal numbers and what is written in them, sign by sign: "0x7B", "#FF5733", hashes, identifiers, MACs. */
export const hexadecimal: Kind = (text, at) => firstOf(HEXADECIMALS, text, at);

const HEXADECIMALS: readonly Kind[] = [
  kindOf(PREFIXED, ([, digits = ""]) => `zero X ${oneByOne(digits)}`),
  kindOf(COLOR_HERE, ([, digits = ""]) => `hash ${oneByOne(digits)}`),
  kindOf(UUID, ([written]) => inGroups(written)),
  kindOf(MAC, ([written]) => inGroups(written)),
  kindOf(HASH, ([written]) => oneByOne(written)),
  kindOf(SERIAL, ([written]) => oneByOne(written)),
];

function inGroups(written: string): string {
  return written.split(/[:-]/u).map(oneByOne).join(", ");
}

function oneByOne(signs: string): string {
  return Array.from(signs, (sign) => (/\d/u.test(sign) ? cardinalWords(sign) : spelled(sign))).join(" ");
}
