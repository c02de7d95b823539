import { after, before, type Kind, kindOf, matchAt, pattern, spoken, withRanges } from "../kind.ts";
import { cardinalWords, digitWords, nameWords } from "../numerals.ts";

const IS = "(?: (?:is|was|are|reads|shows|will be|for \\w+ is))?[ :#=\"“'(]*$";
const NUMBER_OF = "(?: (?:numbers?|no\\.|code|id))?";
/** After these, three digits or more are said one by one. */
const SECRET = withRanges(
  new RegExp(
    `\\b(?:pin|code|codes|passcode|passwords?|otp|ssn|isbn|zip|token|(?:cards?|accounts?|numbers?|visa|mastercard|amex|phone|iban)\\b.{0,20}\\b(?:ending|ends) (?:in|with))${NUMBER_OF}${IS}`,
    "iu",
  ),
);
/** After these, four digits or more are. */
const REFERENCE = withRanges(
  new RegExp(
    "\\b(?:account|acct\\.?|routing|card|imei|sku|serial|confirmation|reference|ref\\.?|tracking|order|ticket|case|claim|" +
      `invoice|booking|id|customer|member|phone|fax|policy|patient|student|employee|box|tel\\.?|telephone)${NUMBER_OF}${IS}`,
    "iu",
  ),
);
/** After these, digits are a name: a room, a road, a flight. */
const NAMED =
  /\b(?:flights?|rooms?|suite|apartment|apt\.?|bus|buses|routes?|highway|hwy\.?|interstate|extension|ext\.?|gate|boeing|airbus|channel|error|errors|http|status|unit|train|exit|locker|studio|model|ward|office|bay|lot|stall|desk|lane|line)(?: (?:number|no\.|code))?[ #:]*(?:[A-Z]{2} ?)?$/iu;
/** "SR 520", "401k", "a 502 error": three digits that are a name by what stands beside them. */
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
/** Numbers that are called in need, and for help. */
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

/** Digits in groups: cards, ISBNs, numbers of insurance; "738 204" after "code"; "60 000" is a number. */
export const groupedDigits: Kind = (text, at) => {
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

/** Whole digits that are a code or a name and no count: what stands before says so, or a zero in front. */
export const codeDigits: Kind = (text, at) => {
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
export const military: Kind = (text, at) => {
  const match = matchAt(HOURS, text, at);
  return match === null ? null : spoken(match, `${militaryTime(match[1] ?? "")} hours`);
};

/** Numbers with commas that part no thousands: the groups behind are not all of three digits. */
const LISTED = withRanges(
  /(?!\d{1,3}(?:,\d{3})+(?![\d,]))\d{1,3}(?:,\d{1,3}){1,12}(?![\p{L}\p{N}_%°]|[.,:/-]\d)/uy,
);
/** "0,5": nothing is counted from nought, so that the comma is Europe's point. */
const BELOW_ONE = withRanges(/0,(\d{1,6})(?![\p{L}\p{N}_]|[.,]\d)/uy);
/** "1,2 and 3" → "1, 2 and 3"; "0,5" → "zero point five". */
export const listed: Kind = (text, at) => {
  if (/[\d$£€.,]$/u.test(before(text, at))) return null;
  const part = matchAt(BELOW_ONE, text, at);
  if (part !== null && !/\($/u.test(before(text, at)))
    return spoken(part, `zero point ${digitWords(part[1] ?? "")}`);
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

/** Digit by digit, with a short rest between groups. */
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

/** American numbers, with or without country and area: 1-800-555-0126, (206) 555-0142, 312.555.0168, 555-1234. */
const AMERICAN = pattern(
  "(?:\\+?1[-. ])?\\(\\d{3}\\)[-. ]?\\d{3}[-. ]\\d{4}|(?:\\+?1[-. ])?\\d{3}([-.])\\d{3}\\1\\d{4}|" +
    "(?:\\+?1 )?\\d{3} \\d{3}[ -]\\d{4}|\\d{3}-\\d{4}",
);
/** International ones begin with a plus: +44 20 7946 0862. */
const INTERNATIONAL = pattern("\\+\\d{1,3}(?:[-. ]?\\(?\\d{1,11}\\)?){1,6}");
/** With a zero in front, as at home in Europe: 0800 123 4567. */
const NATIONAL = pattern("0\\d{1,4}(?:[ /-]\\d{2,8}){1,5}");
const MIN_DIGITS = 7;

/** "1-800-FLOWERS" */
const WITH_WORD = withRanges(/(1-)?([89]\d{2})-([A-Z]{2,9}(?:-[A-Z]{2,9}){0,2})(?![\p{L}\p{N}_]|-\p{N})/uy);

/** A number whose last digits are a word: "one eight hundred, flowers". */
export const phoneWord = kindOf(WITH_WORD, ([, country, area = "", word = ""]) => {
  const words = word.toLowerCase().replaceAll("-", " ");
  return `${country === undefined ? "" : "one "}${nameWords(area)} ${words}`;
});

/** Telephone numbers, digit by digit with a rest between their groups. */
export const phone: Kind = (text, at) => {
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
