import { wordMap } from "../../characters.ts";
import { isCountedThrough } from "../number-context.ts";
import { cardinalWords, ordinal, pairWords } from "../number-words.ts";
import {
  after,
  before,
  endAfterStop,
  matchAt,
  oneOf,
  pattern,
  patternRule,
  type TokenRule,
  withRanges,
} from "../rule.ts";

const MONTH_NAMES =
  "January February March April May June July August September October November December".split(" ");

/** Short months, with or without a stop. May has no short form. */
export const SHORT_MONTHS: readonly string[] = "Jan Feb Mar Apr Jun Jul Aug Sept Sep Oct Nov Dec".split(" ");

/** Pattern source of a month in full or short. */
export const MONTH = `(?:${MONTH_NAMES.join("|")}|(?:${SHORT_MONTHS.join("|")})\\b\\.?)`;

/** @param month 1 to 12 */
export function monthName(month: number): string | undefined {
  return MONTH_NAMES[month - 1];
}

/** "Sept." → "September". */
export function monthOf(written: string): string {
  const start = written.slice(0, 3);
  return MONTH_NAMES.find((month) => month.startsWith(start)) ?? written;
}

export function isDay(day: number): boolean {
  return day >= 1 && day <= 31;
}

const DAYS = wordMap(
  "Mon Monday,Tue Tuesday,Tues Tuesday,Wed Wednesday,Thu Thursday,Thur Thursday,Thurs Thursday," +
    "Fri Friday,Sat Saturday,Sun Sunday",
);

export const SHORT_DAYS: readonly string[] = [...DAYS.keys()];

/** Pattern source of a day of the week in full or short. */
export const DAY = `(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|(?:${SHORT_DAYS.join("|")})\\b)`;

/** "Tues" → "Tuesday". */
export function dayOf(written: string): string | undefined {
  return DAYS.get(written);
}

const ISO = pattern("(\\d{4})([-/.])(\\d{1,2})\\2(\\d{1,2})(?!\\2\\d)");
const STAMP = withRanges(
  /(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):([0-5]\d)(?::[0-5]\d(?:\.\d{1,6})?)?(Z|[-+]\d{2}:\d{2})?(?![\p{L}\p{N}_])/uy,
);
const NUMERIC = pattern("(\\d{1,2})([-/.])(\\d{1,2})\\2(\\d{4}|\\d{2})(?!\\2\\d)");
const SLASHED = pattern("(\\d{1,2})/(\\d{1,2})(?!/|\\.\\d|%)");
const DAY_MONTH = withRanges(`(\\d{1,2})(st|nd|rd|th)? (?:of )?(${MONTH})(?![\\p{L}\\p{N}_])`, "yu");
const MONTH_DAY = pattern(
  `(${MONTH}) ?(\\d{1,2})(?:st|nd|rd|th)?(?: ?[-–—] ?(?:(${MONTH}) ?)?(\\d{1,2})(?:st|nd|rd|th)?)?(?![:%]|[-–/.]\\d)`,
);
const MONTH_RANGE = withRanges(`(${MONTH}) ?[-–—] ?(${MONTH})(?![\\p{L}\\p{N}_])`, "uy");
const SHORT_MONTH = new RegExp(`(?:${SHORT_MONTHS.join("|")})\\.`, "uy");
const MEETS =
  /\b(?:met|meet|saw|see|asked|ask|told|tell|call|called|thank|thanked|love|loved|married|dear|with|and|for) $/iu;
const DAY_FIRST = new RegExp(`^${DAY}`, "u");
const SHORT_DAY = pattern(SHORT_DAYS.join("|"));
/** After these, 3/8 is a date rather than a fraction. */
const BEFORE_A_DATE = withRanges(
  `(?:\\b(?:on|by|until|till|before|after|since|from|due|dated|date|starting|ending|through|effective|closed|open|off|ships|shipped|ship|arrives|arriving|expires?|expired|begins?|starts?|ends?|opens|closes|delivered|renews|renewed|departs|booked for|scheduled for|moved to|(?:week|weekend|month|morning|night|day|as) of)|${DAY}\\.?,?):? $`,
  "u",
);
const AT_HOUR = /^ (?:at (?:\d|noon|midnight)|@)/u;
const LIST = "(?:,? (?:and|or|to|through|thru|&) | ?[-–—] ?|, )";
/** "12/25 and 1/1": the unambiguous date decides for both. */
const DATE_LISTED_BEFORE = new RegExp(`(?<![\\d/])(\\d{1,2})/(\\d{1,2})${LIST}$`, "u");
const DATE_LISTED_AFTER = new RegExp(`^${LIST}(\\d{1,2})/(\\d{1,2})(?![/\\d])`, "u");
const DATE_RANGE = /( ?[-–—] ?)(\d{1,2})\/(\d{1,2})(?![/\d%]|\.\d)/uy;
const CHANGES =
  "cut raised? raises raising increas\\w{1,3} decreas\\w{1,3} lower\\w{0,3} ris(?:e|es|en|ing) rose " +
  "f[ae]ll(?:s|en|ing)? shr[iau]nk\\w{0,3} gr[eo]w\\w{0,3} reduced scaled? trim\\w{0,4} slash\\w{0,3} " +
  "halv\\w{1,3} shorten\\w{0,3}";
const CHANGED_BY = new RegExp(
  `\\b(?:${oneOf(CHANGES)}|drop(?! off)\\w{0,4}|(?:is|are|was|were|be|been) (?:up|down))\\b[^.!?,;]{0,30} by $`,
  "iu",
);
const DIVISIBLE =
  "percent\\w{0,6} points? tablets? pills? inch cups? miles? hours? minutes? seconds? teaspoons? " +
  "tablespoons? tsp tbsp pounds? lb oz ounces? acres? turns? dose days? weeks? months? years? " +
  "blocks? pages? pints? quarts? way marks? dollars? cents? gallons? liters? size votes? majority " +
  "scale speed strength power price off share interest ownership stake";
export const PART_NEXT = new RegExp(`^[- ]${oneOf(DIVISIBLE)}\\b`, "u");
const RECKONING =
  /(?:\b(?:divid(?:e|ed|ing)|multipl(?:y|ied|ying)|times|add(?:ed|ing)?|subtract(?:ed|ing)?|simplif(?:y|ied)|convert|reduce|fractions?|product|sum|plus|minus|odds|ratio)\b[^.!?]{0,40}|[+*×÷=<>] )$/iu;
/** "got 11/12 right", "won 10/12 games" */
export const SCORED =
  /\b(?:got|get|gets|scor(?:e|es|ed|ing)|answer(?:s|ed)?|won|win|wins|lost|miss(?:ed|es)?|solved?|guess(?:ed)?|earned|pass(?:ed)?|correct on|made) $/iu;
const SCORE_NEXT = withRanges(
  /^ (?:right|correct(?:ly)?|wrong|so far|on the|in the (?:quiz|test|exam)|(?!(?:this|as|was|is|has)\b)\p{Ll}+s\b)/u,
);
const VERSIONS_BEFORE =
  /\b(?:Windows|Win|iOS|iPadOS|macOS|Android|Ubuntu|Debian|Python|Java|iPhone|Galaxy|Pixel|versions?|types?|sizes?|chapters|grades|classes|levels|numbers|rooms|channels?) $/u;
const CALENDAR_BEFORE = withRanges(
  `(?:\\b(?:on|every|next|last|this|by|until|till|from|through|since|before|after|open|closed|each)|${DAY}\\.?(?:,|,? (?:and|to|or|through|&|[-–]))?) ?[-–/]?$`,
  "u",
);
const CALENDAR_AFTER = withRanges(
  `^\\.?(?: ?[-–/&,] ?${DAY}|,? (?:and|or|to|through|thru|until|till|&|[-–]) ${DAY}|,? ${MONTH}|,? \\d|,? (?:at|the) \\d|,? (?:morning|afternoon|evening|night)s?\\b)`,
  "u",
);
const SHORT_YEAR = withRanges(/['‘’]0(\d)(?!\d|\p{L})/uy);
const ALSO_WORDS: ReadonlySet<string> = new Set(["Mon", "Wed", "Sat", "Sun"]);

/** 2022-08-14, 10/24/2022, 28.02.2022, and 3/8 where a date is expected. */
export const numericDate: TokenRule = (text, at) => {
  const stamp = matchAt(STAMP, text, at);
  if (stamp !== null) {
    const [whole, year = "", month, day, hour = "", minute = "", zone] = stamp;
    const date = dated(Number(month), Number(day), year, at + whole.length);
    const time = `${cardinalWords(String(Number(hour)))} ${minute === "00" ? "hundred" : pairWords(minute)}`;
    if (date !== null) return { ...date, words: `${date.words}, ${time}${zone === "Z" ? " U T C" : ""}` };
  }
  const iso = matchAt(ISO, text, at);
  if (iso !== null) return dated(Number(iso[3]), Number(iso[4]), iso[1] ?? "", at + iso[0].length);
  const numeric = matchAt(NUMERIC, text, at);
  if (numeric !== null) {
    const [first, second, year = ""] = [Number(numeric[1]), Number(numeric[3]), numeric[4]];
    if (year.length === 2 && numeric[2] !== "/") return null;
    const dayFirst = first > 12 || (numeric[2] === "." && second <= 12);
    const [month, day] = dayFirst ? [second, first] : [first, second];
    return dated(month, day, fullYear(year), at + numeric[0].length);
  }
  const slashed = matchAt(SLASHED, text, at);
  if (slashed === null) return null;
  const [month, day] = [Number(slashed[1]), Number(slashed[2])];
  const [earlier, end] = [before(text, at), at + slashed[0].length];
  if (slashed[0] === "9/11" && !BEFORE_A_DATE.test(earlier)) return null;
  if (RECKONING.test(earlier) || isCountedThrough(earlier) || VERSIONS_BEFORE.test(earlier)) return null;
  if (SCORED.test(earlier) && SCORE_NEXT.test(after(text, end)) && month <= day) return null;
  if (
    isUnsure(month, day) &&
    !BEFORE_A_DATE.test(earlier) &&
    !AT_HOUR.test(after(text, end)) &&
    !isListed(text, at, end)
  )
    return null;
  const rest = after(text, end);
  const isAmount = PART_NEXT.test(rest) || (CHANGED_BY.test(earlier) && !AT_HOUR.test(rest));
  if (isUnsure(month, day) && isAmount) return null;
  if (/\d $/u.test(earlier) && PART_NEXT.test(rest)) return null;
  if (/^(?: (?:of|inch|cups?|mile|full|time|stars?)\b| ?[★⭐]|["″c]| [+*×÷=<>])/u.test(rest)) return null;
  const range = matchAt(DATE_RANGE, text, end);
  const upper = range === null ? null : dated(Number(range[2]), Number(range[3]), "", end + range[0].length);
  const lower = dated(month, day, "", end);
  if (lower === null || upper === null) return lower;
  return { words: `${lower.words} to ${upper.words}`, end: upper.end };
};

/** Returns whether a date may also be a fraction or a pair. */
function isUnsure(month: number, day: number): boolean {
  return (month < day && day <= 10) || month === day;
}

/** Returns whether an unambiguous date is next to this one in a list or range. */
function isListed(text: string, at: number, end: number): boolean {
  const beside = [DATE_LISTED_BEFORE.exec(before(text, at)), DATE_LISTED_AFTER.exec(after(text, end))];
  return beside.some((match) => {
    const [month, day] = [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
    return monthName(month) !== undefined && isDay(day) && !isUnsure(month, day);
  });
}

const DAYS_OF_MONTH = withRanges(
  `(\\d{1,2})(?: (${MONTH}))? ?[-–—] ?(\\d{1,2}) (${MONTH})(?![\\p{L}\\p{N}_])`,
  "yu",
);

/** "3 Mar–5 Apr", "3-5 Apr" → "the third of March to the fifth of April". */
export const daysOfMonth: TokenRule = (text, at) => {
  const match = matchAt(DAYS_OF_MONTH, text, at);
  if (match === null) return null;
  const [whole, first = "", own, last = "", month = ""] = match;
  const end = at + whole.length;
  const inOrder = own !== undefined || Number(first) < Number(last);
  if (!isDay(Number(first)) || !isDay(Number(last)) || !inOrder || /\d[-–:/.]$/u.test(before(text, at)))
    return null;
  const of = own === undefined ? "" : ` of ${monthOf(own)}`;
  const the = /\bthe $/iu.test(before(text, at)) ? "" : "the ";
  const words = `${the}${ordinal(Number(first))}${of} to the ${ordinal(Number(last))} of ${monthOf(month)}`;
  return { words, end: month.endsWith(".") ? endAfterStop(text, end - 1) : end };
};

/** "8 Apr 2016" → "the eighth of April 2016". */
export const dayMonth: TokenRule = (text, at) => {
  const match = matchAt(DAY_MONTH, text, at);
  if (match === null) return null;
  const [whole, day = "", suffix, month = ""] = match;
  const end = at + whole.length;
  if (!isDay(Number(day)) || /^[-–]\d|^:/u.test(after(text, end)) || /\d[-–:/.]$/u.test(before(text, at)))
    return null;
  const isNamed = suffix !== undefined && whole.includes(" of ");
  const the = isNamed || /\bthe $/iu.test(before(text, at)) ? "" : "the ";
  const words = `${the}${ordinal(Number(day))} of ${monthOf(month)}`;
  return { words, end: month.endsWith(".") ? endAfterStop(text, end - 1) : end };
};

/** "Nov. 28", "June 28–July 4", "May 6-8", "Nov." */
export const monthDay: TokenRule = (text, at) => {
  const match = matchAt(MONTH_DAY, text, at);
  if (match !== null) {
    const [, month = "", day = "", other, last] = match;
    if (isDay(Number(day)) && (last === undefined || isDay(Number(last)))) {
      const to =
        last === undefined
          ? ""
          : ` to ${other === undefined ? "" : `${monthOf(other)} `}${ordinal(Number(last))}`;
      const end = at + match[0].length;
      const comma = /^,[12]\d{3}(?!\d)/u.test(after(text, end)) ? "," : "";
      return { words: `${monthOf(month)} ${ordinal(Number(day))}${to}${comma}`, end: end + comma.length };
    }
  }
  const months = matchAt(MONTH_RANGE, text, at);
  if (months !== null) {
    const end = at + months[0].length;
    const stop = months[0].endsWith(".") ? endAfterStop(text, end - 1) : end;
    return { words: `${monthOf(months[1] ?? "")} to ${monthOf(months[2] ?? "")}`, end: stop };
  }
  const short = matchAt(SHORT_MONTH, text, at);
  if (short === null) return null;
  if (isJan(text, at, short[0])) return { words: "Jan", end: at + 3 };
  return { words: monthOf(short[0]), end: endAfterStop(text, at + short[0].length - 1) };
};

/** "I met Jan." */
function isJan(text: string, at: number, written: string): boolean {
  return (
    written === "Jan." && MEETS.test(before(text, at)) && /^(?:["”’)]*$| \p{Lu})/u.test(after(text, at + 4))
  );
}

/** "Tue" → "Tuesday"; "Sat" and "Sun" only next to days and dates. */
export const weekday: TokenRule = (text, at) => {
  const match = matchAt(SHORT_DAY, text, at);
  const day = match === null ? undefined : dayOf(match[0]);
  if (match === null || day === undefined) return null;
  const end = at + match[0].length;
  const earlier = before(text, at);
  const isThe = /\b(?:the|a|our|that|The) $/u.test(earlier);
  const isSure = CALENDAR_AFTER.test(after(text, end)) || (!isThe && CALENDAR_BEFORE.test(earlier));
  const goesOn = /^\. [a-z\d]/u.test(after(text, end));
  if (!isSure && (ALSO_WORDS.has(match[0]) || isThe) && !(goesOn && !isThe)) return null;
  const range = /^ ?[-–] ?(?=[A-Z])/u.exec(after(text, end))?.[0] ?? "";
  const isRange = range !== "" && DAY_FIRST.test(text.slice(end + range.length, end + range.length + 9));
  return isRange
    ? { words: `${day} to `, end: end + range.length }
    : { words: day, end: endAfterStop(text, end) };
};

/** "the class of '09" → "oh nine". */
export const shortYear = patternRule(SHORT_YEAR, (match) =>
  match[1] === "0" ? "oh oh" : `oh ${cardinalWords(match[1] ?? "")}`,
);

function dated(month: number, day: number, year: string, end: number): { words: string; end: number } | null {
  const name = monthName(month);
  if (name === undefined || !isDay(day)) return null;
  return { words: `${name} ${ordinal(day)}${year === "" ? "" : `, ${Number(year)}`}`, end };
}

function fullYear(digits: string): string {
  if (digits.length > 2) return digits;
  return Number(digits) > 30 ? `19${digits}` : `20${digits}`;
}
