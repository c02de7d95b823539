import { spelled } from "./identifiers.ts";
import { light } from "./light.ts";
import { cardinalWords, digitWords, ordinalWords } from "./numerals.ts";
import { before, type Kind, matchAt } from "./spoken.ts";
import { UNITS } from "./units.ts";

/** Letters among digits: "7K2M9P", the plate "8ABC123". */
const MIXED = light(
  /(?=[A-Z\d]{5,12}(?![\p{L}\p{N}_]))[A-Z]{0,4}\d{1,4}(?:[A-Z]{1,4}\d{1,4}){1,5}[A-Z]{0,4}(?![\p{L}\p{N}_-])/uy,
);
const STARTS_AND_ENDS_IN_LETTERS = /^[A-Z]+\d+[A-Z]+$/u;
/** A quarter, a video's lines and rate. */
const NO_CODE = /(?:19|20)\d{2}[QHW]|^\d{3,4}[PI]\d|^\d+X\d+$/u;
/** "1ST", "22ND" in capitals. */
const ORDINAL = light(
  /(\d{0,3}(?:(?<!1)1(?=ST)|(?<!1)2(?=ND)|(?<!1)3(?=RD)|\d(?=TH)))(?:ST|ND|RD|TH)(?![\p{L}\p{N}_])/uy,
);
const INITIALS = light(/(\d{1,2})([A-Z]{2,3})(?![\p{L}\p{N}_'’-])/uy);
const NO_INITIALS = /^(?:ST|ND|RD|TH|AM|PM|BC|AD|BCE|CE|HRS?|LBS?|FT|KM|KG|MIN|SEC|DAY|OUT|AND|OFF|ALL)$/u;

const RUNWAY = light(/(\d{1,2})([LRC])(?![\p{L}\p{N}])/uy);
const RUNWAY_BEFORE = /\b(?:[Rr]unways?|RWY)\b[^.]{0,20}$/u;
const SIDES: ReadonlyMap<string, string> = new Map([
  ["L", "left"],
  ["R", "right"],
  ["C", "center"],
]);
/** "q4-6h", as on prescriptions. */
const EVERY = light(/[qQ](\d{1,2})(?:[-–](\d{1,2}))? ?h(?:rs?)?(?![\p{L}\p{N}])/uy);

/** Codes of letters and digits one by one: "7K2M9P"; initials behind a number: "2FA" → "two F A". */
export const letterCode: Kind = (text, at) => {
  const ordinal = matchAt(ORDINAL, text, at);
  if (ordinal !== null) return { words: ordinalWords(ordinal[1] ?? ""), end: at + ordinal[0].length };
  const mixed = matchAt(MIXED, text, at);
  if (mixed !== null && !NO_CODE.test(mixed[0]) && !STARTS_AND_ENDS_IN_LETTERS.test(mixed[0])) {
    const words = Array.from(mixed[0], (sign) => (/\d/u.test(sign) ? cardinalWords(sign) : spelled(sign)));
    return { words: words.join(" "), end: at + mixed[0].length };
  }
  const runway = matchAt(RUNWAY, text, at);
  if (runway !== null && RUNWAY_BEFORE.test(before(text, at)))
    return {
      words: `${digitWords(runway[1] ?? "")} ${SIDES.get(runway[2] ?? "")}`,
      end: at + runway[0].length,
    };
  const hours = matchAt(EVERY, text, at);
  if (hours !== null) {
    const to = hours[2] === undefined ? "" : ` to ${cardinalWords(hours[2])}`;
    return { words: `every ${cardinalWords(hours[1] ?? "")}${to} hours`, end: at + hours[0].length };
  }
  const match = matchAt(INITIALS, text, at);
  if (match === null) return null;
  const [whole, digits = "", letters = ""] = match;
  if (NO_INITIALS.test(letters) || UNITS.has(letters) || UNITS.has(letters.toLowerCase())) return null;
  return { words: `${cardinalWords(digits)} ${spelled(letters)}`, end: at + whole.length };
};
