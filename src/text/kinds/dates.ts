import { ordinal } from "../number-words.ts";
import { DAY, dayOf, isDay, MONTH, monthName, monthOf } from "./calendar.ts";
import { light } from "./light.ts";
import { after, before, behindStop, type Kind, matchAt, pattern } from "./spoken.ts";

const ISO = pattern("(\\d{4})([-/.])(\\d{1,2})\\2(\\d{1,2})(?!\\2\\d)");
const NUMERIC = pattern("(\\d{1,2})([-/.])(\\d{1,2})\\2(\\d{4}|\\d{2})(?!\\2\\d)");
const SLASHED = pattern("(\\d{1,2})/(\\d{1,2})(?!/|\\.\\d|%)");
const DAY_MONTH = light(new RegExp(`(\\d{1,2})(st|nd|rd|th)? (?:of )?(${MONTH})(?![\\p{L}\\p{N}_])`, "yu"));
const MONTH_DAY = pattern(
  `(${MONTH}) ?(\\d{1,2})(?:st|nd|rd|th)?(?: ?[-–—] ?(?:(${MONTH}) ?)?(\\d{1,2})(?:st|nd|rd|th)?)?(?![:%]|[-–/.]\\d)`,
);
const SHORT_MONTH = /(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\./uy;
const DAY_FIRST = new RegExp(`^${DAY}`, "u");
const SHORT_DAY = pattern("Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun");
/** After these, 3/8 is a day; by itself it is a fraction. */
const BEFORE_A_DATE = light(
  new RegExp(
    `(?:\\b(?:on|by|until|till|before|after|since|from|due|dated|date|starting|ending|through|effective)|${DAY}\\.?,?):? $`,
    "u",
  ),
);
const CALENDAR_BEFORE = light(
  new RegExp(
    `(?:\\b(?:on|every|next|last|this|by|until|till|from|through|since|before|after|open|closed|each)|${DAY}\\.?(?:,|,? (?:and|to|or|through|&|[-–]))?) ?[-–/]?$`,
    "u",
  ),
);
const CALENDAR_AFTER = light(
  new RegExp(
    `^\\.?(?: ?[-–/&,] ?${DAY}|,? (?:and|or|to|through|thru|until|till|&|[-–]) ${DAY}|,? ${MONTH}|,? \\d|,? (?:at|the) \\d|,? (?:morning|afternoon|evening|night)s?\\b)`,
    "u",
  ),
);
/** Short days that are also words or names. */
const ALSO_WORDS: ReadonlySet<string> = new Set(["Mon", "Wed", "Sat", "Sun"]);

/** Dates in digits: 2022-08-14, 10/24/2022, 28.02.2022, and 3/8 where a date is due. */
export const numericDate: Kind = (text, at) => {
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
  const isFraction = month < day && day <= 10;
  if ((isFraction || month === day) && !BEFORE_A_DATE.test(before(text, at))) return null;
  if (/^ (?:of|inch|cups?|mile|full)\b/u.test(after(text, at + slashed[0].length))) return null;
  return dated(month, day, "", at + slashed[0].length);
};

/** "8 Apr 2016" → "the eighth of April 2016". */
export const dayMonth: Kind = (text, at) => {
  const match = matchAt(DAY_MONTH, text, at);
  if (match === null) return null;
  const [whole, day = "", suffix, month = ""] = match;
  const end = at + whole.length;
  if (!isDay(Number(day)) || /^[-–]\d|^:/u.test(after(text, end)) || /\d[-–:/.]$/u.test(before(text, at)))
    return null;
  const isNamed = suffix !== undefined && whole.includes(" of ");
  const the = isNamed || /\bthe $/iu.test(before(text, at)) ? "" : "the ";
  const words = `${the}${ordinal(Number(day))} of ${monthOf(month)}`;
  return { words, end: month.endsWith(".") ? behindStop(text, end - 1) : end };
};

/** "Nov. 28", "June 28–July 4", "May 6-8", and a short month by itself. */
export const monthDay: Kind = (text, at) => {
  const match = matchAt(MONTH_DAY, text, at);
  if (match !== null) {
    const [whole, month = "", day = "", other, last] = match;
    if (isDay(Number(day)) && (last === undefined || isDay(Number(last)))) {
      const to =
        last === undefined
          ? ""
          : ` to ${other === undefined ? "" : `${monthOf(other)} `}${ordinal(Number(last))}`;
      return { words: `${monthOf(month)} ${ordinal(Number(day))}${to}`, end: at + whole.length };
    }
  }
  const short = matchAt(SHORT_MONTH, text, at);
  if (short === null) return null;
  return { words: monthOf(short[0]), end: behindStop(text, at + short[0].length - 1) };
};

/** "Tue" → "Tuesday"; "Sat" and "Sun" among days and dates only. */
export const weekday: Kind = (text, at) => {
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
    : { words: day, end: behindStop(text, end) };
};

function dated(month: number, day: number, year: string, end: number): { words: string; end: number } | null {
  const name = monthName(month);
  if (name === undefined || !isDay(day)) return null;
  return { words: `${name} ${ordinal(day)}${year === "" ? "" : `, ${Number(year)}`}`, end };
}

function fullYear(digits: string): string {
  if (digits.length > 2) return digits;
  return Number(digits) > 30 ? `19${digits}` : `20${digits}`;
}
