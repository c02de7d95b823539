import { cardinal, cardinalWords, digitWords, pairWords } from "../number-words.ts";
import {
  after,
  before,
  matchAt,
  patternRule,
  type Spoken,
  spoken,
  type TokenRule,
  withRanges,
} from "../rule.ts";
import { perUnit } from "./units.ts";

const HALF = "[AaPp]\\.?[Mm](?:\\.|(?![\\p{L}\\p{N}]))";
const CLOCK = `(\\d{1,2})(?:[:.](\\d{2}))?(?::(\\d{2}))?(?: ?(${HALF}))?`;
const TIME = withRanges(`${CLOCK}(?:( ?[-–—] ?)${CLOCK})?(?![\\p{L}\\p{N}_]|[:/]\\d)`, "yu");
/** A point instead of a colon, as in Britain, needs further evidence of a time. */
const POINTED = /\d\.\d/u;
const AT_HOUR = /\b(?:at|by|until|till|before|after|from|around) $/iu;
const HOUR_AFTER =
  /^ (?:tonight|tomorrow|today|sharp|on (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)|(?:this|in the|every|each|tomorrow) (?:morning|afternoon|evening)|o['’]clock)\b/u;
const SERVICE_AFTER = /^ (?:train|bus|ferry|flight|showing|service|express|coach|boat)\b/u;
/** "3:15p", "8a-5p". */
const SHORT = withRanges(/(\d{1,2}):(\d{2})([ap])(?![\p{L}\p{N}'’]|\.m)/uy);
const SHORT_RANGE = withRanges(
  /(\d{1,2})(?::(\d{2}))?([ap])m? ?[-–—] ?(\d{1,2})(?::(\d{2}))?([ap])m?(?![\p{L}\p{N}'’]|\.m)/uy,
);
const RATIO = /(\d{1,4}):(\d{1,4})(?![\d:])/uy;
const LAP = withRanges(/(?:(\d{1,2}):(?=[0-5]\d:))?(\d{1,2}):([0-5]\d)\.(\d{1,3})(?![\p{L}\p{N}]|[.:]\d)/uy);
const OFFSET = withRanges(/(UTC|GMT) ?([-+−–]) ?(\d{1,2})(?::?(\d{2}))?(?![\p{L}\p{N}])/uy);
const LENGTH_BEFORE = /\b(?:in|time of|at|of|under|clocked|after|length|duration|runtime):? $/iu;
const BEFORE_A_RATIO = /\b(?:ratios?|odds|scale|mix|split|proportions?|won|beat|lost|score)\b[^.]{0,24}$/iu;

/** "16:05", "2-4pm", "10 a.m.-4 p.m.", "1:00-2:30 PM". */
export const time: TokenRule = (text, at) => {
  const short = shortTime(text, at);
  if (short !== null) return short;
  const match = matchAt(TIME, text, at);
  if (match === null) return null;
  const [whole, hour = "", minute, second, half, dash, hourTo, minuteTo, secondTo, halfTo] = match;
  const isOne = minute !== undefined || half !== undefined;
  if (dash !== undefined && hourTo !== undefined) {
    const isOther = minuteTo !== undefined || halfTo !== undefined;
    const from = clockWords(hour, minute, second, half);
    const to = clockWords(hourTo, minuteTo, secondTo, halfTo);
    const isRange =
      ((isOne && isOther) || halfTo !== undefined) && !(POINTED.test(whole) && halfTo === undefined);
    if (isRange && from !== null && to !== null)
      return spoken(match, `${from} to ${to}${stopFor(text, at + whole.length, halfTo)}`);
  }
  if (!isOne || BEFORE_A_RATIO.test(before(text, at))) return null;
  const alone = dash === undefined ? whole : whole.slice(0, whole.indexOf(dash));
  const end = at + alone.length;
  if (POINTED.test(alone) && half === undefined && !isHour(text, at, end)) return null;
  const words = clockWords(hour, minute, second, half);
  const per = perUnit(text, end);
  if (words !== null && per.end > end) return { words: words + per.words, end: per.end };
  return words === null ? null : { words: `${words}${stopFor(text, end, half)}`, end };
};

function shortTime(text: string, at: number): Spoken | null {
  const range = matchAt(SHORT_RANGE, text, at);
  const match = range ?? matchAt(SHORT, text, at);
  if (match === null) return null;
  const [whole, hour = "", minute, half, hourTo = "", minuteTo, halfTo] = match;
  const from = clockWords(hour, minute, undefined, half);
  const to = range === null ? "" : clockWords(hourTo, minuteTo, undefined, halfTo);
  if (from === null || to === null) return null;
  const end = at + whole.length;
  return { words: `${from}${to === "" ? "" : ` to ${to}`}${stopFor(text, end, half)}`, end };
}

function isHour(text: string, at: number, end: number): boolean {
  if (/\bthe $/iu.test(before(text, at))) return SERVICE_AFTER.test(after(text, end));
  return AT_HOUR.test(before(text, at)) && HOUR_AFTER.test(after(text, end));
}

/** "1:23.456" → "one twenty three point four five six". */
export const lapTime = patternRule(LAP, ([, hours, minutes = "", seconds = "", part = ""]) => {
  const first =
    hours === undefined ? cardinalWords(minutes) : `${cardinalWords(hours)} ${pairWords(minutes)}`;
  return `${first} ${pairWords(seconds)} point ${digitWords(part)}`;
});

const BY_LETTER = withRanges(/([01]?\d|2[0-3]):([0-5]\d) ?h(?:rs?)?(?![\p{L}\p{N}])/uy);

/** "17:30h" → "seventeen thirty hours". */
export const hoursByLetter = patternRule(BY_LETTER, ([, hour = "", minute = ""]) => {
  const words = minute === "00" ? "hundred" : pairWords(minute);
  return `${cardinalWords(hour)} ${words} hours`;
});

const DURATION = withRanges(
  /(\d{1,3}) ?h(?:rs?)? ?(\d{1,2}) ?m(?:ins?)?(?: ?(\d{1,2}) ?s(?:ecs?)?)?(?![\p{L}\p{N}])/uy,
);
const MINUTES = withRanges(/(\d{1,3}) ?m(?:in)? ?(\d{1,2}) ?s(?:ec)?(?![\p{L}\p{N}])/uy);

/** "1h 20m", "2m 5s" → "one hour twenty minutes". */
export const duration: TokenRule = (text, at) => {
  const hours = matchAt(DURATION, text, at);
  const found = hours ?? matchAt(MINUTES, text, at);
  if (found === null) return null;
  const names = hours === null ? ["minute", "second"] : ["hour", "minute", "second"];
  const words = names.flatMap((name, index) => {
    const count = found[index + 1];
    return count === undefined ? [] : [`${cardinalWords(count)} ${name}${Number(count) === 1 ? "" : "s"}`];
  });
  return spoken(found, words.join(" "));
};

/** "GMT-5" → "G M T minus five". */
export const zoneOffset = patternRule(OFFSET, ([, zone = "", sign, hours = "", minutes]) => {
  const half = minutes === undefined || minutes === "00" ? "" : ` ${pairWords(minutes)}`;
  return `${zone.split("").join(" ")} ${sign === "+" ? "plus" : "minus"} ${cardinalWords(hours)}${half}`;
});

/** "3:1" → "three to one". */
export const ratio: TokenRule = (text, at) => {
  const match = matchAt(RATIO, text, at);
  if (match === null || /^[.,]\d/u.test(after(text, at + match[0].length))) return null;
  const [, left = "", right = ""] = match;
  if (
    right.length === 2 &&
    Number(left) <= 24 &&
    Number(right) < 60 &&
    !BEFORE_A_RATIO.test(before(text, at))
  )
    return null;
  if (isLength(text, at, left, right)) return spoken(match, `${cardinalWords(left)} ${pairWords(right)}`);
  return spoken(match, `${cardinalWords(left)} to ${cardinalWords(right)}`);
};

function isLength(text: string, at: number, left: string, right: string): boolean {
  if (left.length !== 2 || right.length !== 2 || Number(left) > 59 || Number(right) > 59 || right === "00")
    return false;
  return (
    !BEFORE_A_RATIO.test(before(text, at)) && (right.startsWith("0") || LENGTH_BEFORE.test(before(text, at)))
  );
}

function clockWords(
  hourDigits: string,
  minuteDigits: string | undefined,
  secondDigits: string | undefined,
  half: string | undefined,
): string | null {
  const [hour, minute] = [Number(hourDigits), Number(minuteDigits ?? 0)];
  const second = secondDigits === undefined ? undefined : Number(secondDigits);
  if (hour > 24 || minute > 59 || (second ?? 0) > 59 || (half !== undefined && hour > 23)) return null;
  let words: string = cardinal(hour);
  if (minute !== 0) words += minute < 10 ? ` oh ${cardinal(minute)}` : ` ${cardinal(minute)}`;
  else if (half === undefined && second === undefined && minuteDigits !== undefined)
    words += hour > 12 && hour < 24 ? " hundred" : " o'clock";
  if (second !== undefined) words += ` and ${cardinal(second)} second${second === 1 ? "" : "s"}`;
  return half === undefined ? words : `${words} ${half.charAt(0).toUpperCase()}.M`;
}

/** "P.M" takes its second stop, unless the text has one more. */
function stopFor(text: string, end: number, half: string | undefined): string {
  return half === undefined || text.startsWith(".", end) ? "" : ".";
}
