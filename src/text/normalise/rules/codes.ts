import { wordMap } from "../../characters.ts";
import { isCountedThrough, isInSeries } from "../number-context.ts";
import { cardinalWords, digitWords, nameWords, ordinalWords } from "../number-words.ts";
import {
  after,
  before,
  firstMatch,
  matchAt,
  oneOf,
  pattern,
  patternRule,
  spoken,
  type TokenRule,
  withRanges,
} from "../rule.ts";
import { spelled } from "./identifiers.ts";
import { UNITS } from "./units.ts";

const IS = "(?: (?:is|was|are|reads|shows|will be|for \\w+ is))?[ :#=\"“'(]*$";
const NUMBER_OF = "(?: (?:numbers?|no\\.|code|id))?";
/** After these, three or more digits are read one by one. */
const SECRET = withRanges(
  `\\b(?:pin|code|codes|passcode|passwords?|otp|ssn|isbn|zip|token|(?:cards?|accounts?|numbers?|visa|mastercard|amex|phone|iban)\\b.{0,20}\\b(?:ending|ends) (?:in|with))${NUMBER_OF}${IS}`,
  "iu",
);
/** After these, four or more digits are read one by one. */
const REFERENCE = withRanges(
  "\\b(?:account|acct\\.?|routing|card|imei|sku|serial|confirmation|reference|ref\\.?|tracking|order|ticket|case|claim|" +
    `invoice|booking|id|customer|member|phone|fax|policy|patient|student|employee|box|tel\\.?|telephone)${NUMBER_OF}${IS}`,
  "iu",
);
const BY_NUMBER =
  "flights? rooms? suite apartment apt\\.? bus buses routes? highway hwy\\.? interstate extension " +
  "ext\\.? gate boeing airbus channel error errors http status unit train exit locker studio model " +
  "ward office bay lot stall desk lane line";
const NAMED = new RegExp(`\\b${oneOf(BY_NUMBER)}(?: (?:number|no\\.|code))?[ #:]*(?:[A-Z]{2} ?)?$`, "iu");
/** "SR 520", "401k", "a 502 error". */
const ROAD_NUMBER = /\b(?:SR|CR|FM) $/u;
const AIRLINE =
  /\b(?:A[ACFSYIZ]|DL|UA|WN|B[6A]|NK|F9|HA|L[HXO]|KL|EK|EY|QR|QF|NZ|SQ|CX|JL|NH|KE|OZ|TK|IB|T[PGK]|SK|V[SAY]|EI|U2|FR|WS|LA|CM|AV|ET|MS|SA) $/u;
const BOARDED =
  /\b(?:on|aboard|board|boarding|catch|caught|took|take|taking|track|via|missed|rebooked to) [A-Z][A-Z\d] $/u;
const FLIES =
  /^,? (?:(?:now |has |just |will |is now |is )?(?:depart|land|arriv|board|leav|take|took|fl(?:y|ies|ew)|delay|cancel|divert|scheduled|on time|late|full)\w{0,6}|from|to|out of|bound for)\b/u;
const NAMED_AFTER = /^(?:\(?k\)?(?![\p{L}\p{N}])|\([a-z]\)| (?:errors?|status|response)\b)/u;
const CALLED =
  /\b(?:call|calls|called|calling|dial|dialed|dialing|text|texted|ring|phone)(?: (?:at|on))? $/iu;
const TEXTED = withRanges(/\btext(?:ed|ing)? (?:["“]?[\p{L}\p{N}]{1,20}["”]? )?to $/iu);
const SERVICES = /^(?:[2-9]11|112|999|988|000|110|119|101)$/;

const FUND = withRanges(/40([13])\(?([kb])\)?(?![\p{L}\p{N}])/uy);
const HOURS = withRanges(/((?:[01]\d|2[0-3])[0-5]\d) (?:hours|hrs\.?)(?![\p{L}\p{N}])/uy);
const DIGITS = pattern("\\d{1,40}");
const GROUPS = pattern("\\d{2,6}(?: \\d{2,6}){1,7}");
const CARD = pattern("\\d{4}([ -])\\d{4}(?:\\1\\d{4}){1,3}|\\d{4} \\d{6} \\d{5}");
const THOUSANDS = pattern("([1-9]\\d{0,2})((?: \\d{3}){1,4})(?!,\\d| \\d)");
const HYPHENATED = pattern("\\d{1,7}(?:-\\d{1,7}){2,6}(?!-)");
const JOINED = pattern("\\d{1,7}-\\d{1,7}(?!-)");
const MAX_COUNTED_DIGITS = 7;

/** Cards, ISBNs, insurance numbers, "738 204" after "code"; "60 000" is a number. */
export const groupedDigits: TokenRule = (text, at) => {
  const card = matchAt(CARD, text, at);
  if (card !== null) return spoken(card, grouped(card[0]));
  const hyphenated = matchAt(HYPHENATED, text, at);
  if (hyphenated !== null) return spoken(hyphenated, grouped(hyphenated[0]));
  const joined = matchAt(JOINED, text, at);
  if (joined !== null && (isSecret(text, at) || REFERENCE.test(before(text, at))))
    return spoken(joined, grouped(joined[0]));
  const groups = matchAt(GROUPS, text, at);
  if (groups !== null && isSecret(text, at)) return spoken(groups, grouped(groups[0]));
  const thousands = matchAt(THOUSANDS, text, at);
  if (thousands === null || isNamed(text, at)) return null;
  return spoken(thousands, cardinalWords(thousands[0].replaceAll(" ", "")));
};

/** Digits that are a code or a name, by the words before or a leading zero. */
export const codeDigits: TokenRule = (text, at) => {
  const fund = matchAt(FUND, text, at);
  if (fund !== null) return spoken(fund, `four oh ${fund[1]} ${fund[2]?.toUpperCase()}`);
  const match = matchAt(DIGITS, text, at);
  if (match === null || /^[.,:/]\d/u.test(after(text, at + match[0].length))) return null;
  const [digits] = match;
  const end = at + digits.length;
  if (digits === "007") return { words: "double oh seven", end };
  const isMarked = digits.length >= 6 && text.charAt(at - 1) === "#";
  const words = isMarked ? digitWords(digits) : wordsOf(digits, text, at);
  return words === null ? null : { words, end: /^-[A-Z]/u.test(after(text, end)) ? end + 1 : end };
};

/** "1630 hours" → "sixteen thirty hours". */
export const military: TokenRule = (text, at) => {
  const match = matchAt(HOURS, text, at);
  return match === null ? null : spoken(match, `${militaryTime(match[1] ?? "")} hours`);
};

const LISTED = withRanges(
  /(?!\d{1,3}(?:,\d{3})+(?![\d,]))\d{1,3}(?:,\d{1,3}){1,12}(?![\p{L}\p{N}_%°]|[.,:/-]\d)/uy,
);
/** "1,2 and 3" → "1, 2 and 3". */
export const listed: TokenRule = (text, at) => {
  if (/[\d$£€.,]$/u.test(before(text, at))) return null;
  const list = matchAt(LISTED, text, at);
  if (list === null) return null;
  return spoken(list, list[0].split(",").map(cardinalWords).join(", "));
};

function wordsOf(digits: string, text: string, at: number): string | null {
  const isError = digits.length === 3 && NAMED_AFTER.test(after(text, at + digits.length));
  const earlier = before(text, at);
  const isFlight =
    AIRLINE.test(earlier) && (BOARDED.test(earlier) || FLIES.test(after(text, at + digits.length)));
  const named = isError || (isFlight && digits.length >= 3) || (digits.length >= 3 && isNamed(text, at));
  if (named && !digits.startsWith("0")) return nameWords(digits);
  if (/^0\d{1,2}$/u.test(digits) && isCountedThrough(earlier)) return cardinalWords(digits);
  if (digits.startsWith("0") && digits.length > 1) return digitWords(digits);
  if (digits.length >= 3 && isSecret(text, at)) return digitWords(digits);
  if (digits.length >= 4 && REFERENCE.test(earlier)) return digitWords(digits);
  if (SERVICES.test(digits) && CALLED.test(earlier)) return digitWords(digits);
  if (digits.length >= 4 && (TEXTED.test(earlier) || CALLED.test(earlier))) return digitWords(digits);
  return digits.length > MAX_COUNTED_DIGITS && !digits.endsWith("00") ? digitWords(digits) : null;
}

function isSecret(text: string, at: number): boolean {
  return SECRET.test(before(text, at));
}

function isNamed(text: string, at: number): boolean {
  return NAMED.test(before(text, at)) || ROAD_NUMBER.test(before(text, at));
}

function grouped(groups: string): string {
  return groups
    .split(/\D/u)
    .map((group) => digitWords(group))
    .join(", ");
}

function militaryTime(digits: string): string {
  const [hour, minute] = [digits.slice(0, 2), digits.slice(2)];
  const first = hour.startsWith("0") ? digitWords(hour, "oh") : cardinalWords(hour);
  return `${first} ${minute === "00" ? "hundred" : minute.startsWith("0") ? digitWords(minute, "oh") : cardinalWords(minute)}`;
}

const AMERICAN = pattern(
  "(?:\\+?1[-. ])?\\(\\d{3}\\)[-. ]?\\d{3}[-. ]\\d{4}|(?:\\+?1[-. ])?\\d{3}([-.])\\d{3}\\1\\d{4}|" +
    "(?:\\+?1 )?\\d{3} \\d{3}[ -]\\d{4}|\\d{3}-\\d{4}",
);
/** +44 20 7946 0862. */
const INTERNATIONAL = pattern("\\+\\d{1,3}(?:[-. ]?\\(?\\d{1,11}\\)?){1,6}");
/** 0800 123 4567. */
const NATIONAL = pattern("0\\d{1,4}(?:[ /-]\\d{2,8}){1,5}");
const MIN_DIGITS = 7;

const WITH_WORD = withRanges(/(1-)?([89]\d{2})-([A-Z]{2,9}(?:-[A-Z]{2,9}){0,2})(?![\p{L}\p{N}_]|-\p{N})/uy);

/** "1-800-FLOWERS" → "one eight hundred, flowers". */
export const phoneWord = patternRule(WITH_WORD, ([, country, area = "", word = ""]) => {
  const words = word.toLowerCase().replaceAll("-", " ");
  return `${country === undefined ? "" : "one "}${nameWords(area)} ${words}`;
});

/** Telephone numbers, digit by digit with pauses between groups. */
export const phone: TokenRule = (text, at) => {
  const match =
    matchAt(AMERICAN, text, at) ?? matchAt(INTERNATIONAL, text, at) ?? matchAt(NATIONAL, text, at);
  if (match === null) return null;
  const end = at + match[0].length;
  if (/^[-/.]\d/u.test(text.slice(end, end + 2))) return null;
  const digits = match[0].replace(/\D/gu, "");
  if (digits.length < MIN_DIGITS || digits.length > 15) return null;
  const groups = match[0].match(/\d+/gu) ?? [];
  const words = groups.map((group) => digitWords(group)).join(", ");
  return { words: match[0].startsWith("+") ? `plus ${words}` : words, end };
};

/** "7K2M9P", the plate "8ABC123". */
const MIXED = withRanges(
  /(?=[A-Z\d]{5,12}(?![\p{L}\p{N}_]))[A-Z]{0,4}\d{1,4}(?:[A-Z]{1,4}\d{1,4}){1,5}[A-Z]{0,4}(?![\p{L}\p{N}_-])/uy,
);
const STARTS_AND_ENDS_IN_LETTERS = /^[A-Z]+\d+[A-Z]+$/u;
const NO_CODE = /(?:19|20)\d{2}[QHW]|^\d{3,4}[PI]\d|^\d+X\d+$/u;
const ORDINAL = withRanges(
  /(\d{0,3}(?:(?<!1)1(?=ST)|(?<!1)2(?=ND)|(?<!1)3(?=RD)|\d(?=TH)))(?:ST|ND|RD|TH)(?![\p{L}\p{N}_])/uy,
);
const INITIALS = withRanges(/(\d{1,2})([A-Z]{2,3})(?![\p{L}\p{N}_'’-])/uy);
const NO_INITIALS = /^(?:ST|ND|RD|TH|AM|PM|BC|AD|BCE|CE|HRS?|LBS?|FT|KM|KG|MIN|SEC|DAY|OUT|AND|OFF|ALL)$/u;

const RUNWAY = withRanges(/(\d{1,2})([LRC])(?![\p{L}\p{N}])/uy);
const RUNWAY_BEFORE = /\b(?:[Rr]unways?|RWY)\b[^.]{0,20}$/u;
const SIDES = wordMap("L left,R right,C center");
const EVERY = withRanges(/[qQ](\d{1,2})(?:[-–](\d{1,2}))? ?h(?:rs?)?(?![\p{L}\p{N}])/uy);

const LETTERS_TO = withRanges(/(\d{1,3})([A-Za-z])([-–])([A-Za-z])(?![\p{L}\p{N}_'’]| ?=)/uy);

/** "7K2M9P" letter by letter; "2FA" → "two F A"; "figs. 2a–c" → "two A to C". */
export const letterCode: TokenRule = (text, at) => {
  const parts = matchAt(LETTERS_TO, text, at);
  if (parts !== null && (parts[3] === "–" || isInSeries(before(text, at))))
    return spoken(parts, `${parts[1]} ${spelled(parts[2] ?? "")} to ${spelled(parts[4] ?? "")}`);
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
export const COLOR = /^#(?=[\da-f]{0,5}\d)(?=\d{0,5}[a-f])[\da-f]{6}$/iu;
const COLOR_HERE = withRanges(`#(?=[\\da-f]{0,5}\\d)(?=\\d{0,5}[a-f])([\\da-f]{6})${END}`, "iuy");
const PREFIXED = withRanges(`0[xX]([\\da-fA-F]{1,16})${END}`, "uy");
const UUID = withRanges(`[\\da-fA-F]{8}(?:-[\\da-fA-F]{4}){3}-[\\da-fA-F]{12}${END}`, "uy");
const MAC = withRanges(`[\\dA-Fa-f]{2}([:-])[\\dA-Fa-f]{2}(?:\\1[\\dA-Fa-f]{2}){4}${END}`, "uy");
/** A hash of letters and digits that alternate at least twice. */
const HASH = withRanges(
  `(?=[a-f]{0,6}\\d{1,6}[a-f]{1,6}\\d|\\d{0,6}[a-f]{1,6}\\d{1,6}[a-f]|\\d{1,6}[a-f]{2,6}\\d{2})[\\da-f]{7,64}${END}`,
  "uy",
);

const SERIAL = withRanges(
  `(?=[A-Z]{0,10}\\d)(?=\\d{0,20}[A-Z])(?=\\D{0,8}\\d\\D{0,8}\\d)[A-Z\\d]{11,40}${END}`,
  "uy",
);

/** "0x7B", "#FF5733", hashes, UUIDs, MAC addresses. */
export const hexadecimal: TokenRule = (text, at) => firstMatch(HEXADECIMALS, text, at);

const HEXADECIMALS: readonly TokenRule[] = [
  patternRule(PREFIXED, ([, digits = ""]) => `zero X ${oneByOne(digits)}`),
  patternRule(COLOR_HERE, ([, digits = ""]) => `hash ${oneByOne(digits)}`),
  patternRule(UUID, ([written]) => inGroups(written)),
  patternRule(MAC, ([written]) => inGroups(written)),
  patternRule(HASH, ([written]) => oneByOne(written)),
  patternRule(SERIAL, ([written]) => oneByOne(written)),
];

function inGroups(written: string): string {
  return written.split(/[:-]/u).map(oneByOne).join(", ");
}

function oneByOne(signs: string): string {
  return Array.from(signs, (sign) => (/\d/u.test(sign) ? cardinalWords(sign) : spelled(sign))).join(" ");
}
