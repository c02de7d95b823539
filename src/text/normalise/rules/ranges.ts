import { wordSet } from "../../characters.ts";
import { isCountedThrough } from "../number-context.ts";
import { cardinalWords, digitWords, NUMBER, nameWords, numberWords, powerWords } from "../number-words.ts";
import { after, before, matchAt, oneOf, patternRule, spoken, type TokenRule, withRanges } from "../rule.ts";
import { SCORED } from "./dates.ts";
import { spelled } from "./identifiers.ts";

const RANGE = withRanges(`(${NUMBER})(%?)( ?[-–—] ?)(${NUMBER})( ?%)?(?![\\p{L}\\p{N}_/]|[-–—.:]\\d)`, "yu");
const SEASON = withRanges(/([12]\d{3})[/](\d{2})(?![\d/\p{L}])/uy);
const PAIR = withRanges(/(\d{1,3})\/(\d{1,3})(?:\/(\d{3}))?(?![\d/\p{L}]|\.\d)/uy);
const TWO_NUMBERS = wordSet("24/7 9/11 20/20 50/50 60/40 80/20 70/30 90/10");
const POWER = withRanges(/(\d{1,6})(?:\^([-−]?\d{1,3})|([⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))(?![\p{L}\p{N}])/uy);
const PRESSURE = /\b(?:pressure|BP|bp|systolic|hypertension)\b[^.]{0,50}$/iu;
const PLANE = /^7[0-8]7-(?:[1-9]|[1-9]00)$/u;
/** A team's record: "are 9-3 so far". A score ("won 6-4") is read with "to". */
const TEAM = String.raw`(?:(?!Hours|Odds|Ages|Pages|Scores|Grades|Days|Sizes)\p{Lu}\p{Ll}+s|[tT]hey|[wW]e|team|squad|club)`;
const STANDS = oneOf("are were went go started start stand sit finished finish is was");
const MOVED_TO = String.raw`\b(?:improved?|improves|fell|falls|drop|dropped|moved?) to`;
const RECORD_OF = String.raw`\b(?:are|is) off to an? |\brecords? (?:is|was|of|to|at|now)`;
const BEFORE_A_RECORD = withRanges(
  `(?:\\b${TEAM} ${STANDS}(?: now| just| only)?|${RECORD_OF}|${MOVED_TO})(?: an?)? ?$`,
  "u",
);
const AFTER_A_RECORD =
  /^(?:[.,!?;)]|$| (?:so far|this|on the|in (?:the|[A-Z]|conference|league|division|their|games|its)|overall|at home|away|record|since|against|with|after|start|and|but|when|season)\b)/u;
const DOCUMENT = oneOf(
  "[Dd]ocket [Cc]ase [Bb]ill [Ff]ile [Pp]ermit [Rr]esolution [Oo]rdinance [Rr]eport [Cc]omplaint [Ll]icense " +
    "[Pp]art [Ii]ncident [Pp]etition [Aa]ppeal",
);
const NUMBER_SIGN = "(?:[Nn]o\\.|[Nn]umber|#)";
const BEFORE_A_FILE = new RegExp(
  `\\b(?:(?:${DOCUMENT}|[Pp]ublic [Ll]aw)(?: ${NUMBER_SIGN})?|\\b[Nn]o\\.|\\b[Nn]umber)[ :]*#?$`,
  "u",
);
const BEFORE_ODDS = /\bodds\b[^.]{0,24}$/iu;
const LETTER_POWER = withRanges(/([A-Za-z])(?:\^([23])|([²³]))(?![\p{L}\p{N}])/uy);
const BEFORE_A_MARK = /\b(?:scor|rat|gave|give|got|earn|mark|grad)\w{0,4}(?: \w{1,8}){0,2} $/iu;
const OUT_OF: ReadonlySet<string> = new Set(["5", "10", "20", "100"]);
/** "4.5/5": fractions have no decimal point. */
const MARK = withRanges(/(\d{1,2}\.\d{1,2})\/(5|6|10|20|100)(?![\d/\p{L}]|\.\d)/uy);
const SCIENTIFIC = /(\d{1,6}(?:\.\d{1,6})?) ?[x×*·] ?(?=10[\^⁻⁰¹²³⁴⁵⁶⁷⁸⁹])/uy;
const POINTED = withRanges(/\.(\d{1,8})(?![\p{L}\p{N}]|[.,]\d)/uy);
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const TRAILING_ZERO = withRanges(/(\d{1,3}(?:,\d{3})+|\d{1,9})\.(\d{0,8}0)(?![\p{L}\p{N}_]|[.,]\d)/uy);

/** "6-4", "1914-1918", "10-12 %", "4%-6%" → "… to …"; "8 - 2 =" is a minus. */
export const range: TokenRule = (text, at) => {
  const match = matchAt(RANGE, text, at);
  if (match === null || /[.\-–:/]$/u.test(before(text, at)) || /^\.\d/u.test(match[0])) return null;
  const [whole, from = "", , joint = "", to = "", percent] = match;
  const end = at + whole.length;
  if (from.length > 5 && !from.includes(",") && !from.includes(".")) return null;
  if (joint === " - " && (/^ ?[=×÷*]/u.test(after(text, end)) || /[=+] ?$/u.test(before(text, at))))
    return { words: `${numberWords(from)} minus ${numberWords(to)}`, end };
  if (PLANE.test(whole)) return { words: `${nameWords(from)} ${nameWords(to)}`, end };
  if (joint === "-" && from === to && TWO_NUMBERS.has(`${from}/${to}`) && !SCORED.test(before(text, at)))
    return { words: `${as(from)} ${as(to)}`, end };
  const isRecord =
    joint === "-" &&
    percent === undefined &&
    from.length < 4 &&
    to.length < 4 &&
    BEFORE_A_RECORD.test(before(text, at)) &&
    AFTER_A_RECORD.test(after(text, end));
  if (isRecord) return { words: `${as(from)} and ${as(to)}`, end };
  if (joint.length === 1 && BEFORE_A_FILE.test(before(text, at)))
    return { words: `${nameWords(from)} dash ${nameWords(to)}`, end };
  return { words: `${as(from)} to ${as(to)}${percent === undefined ? "" : " percent"}`, end };
};

export const pair: TokenRule = (text, at) => {
  const season = matchAt(SEASON, text, at);
  if (season !== null) return spoken(season, `${season[1]} ${season[2]}`);
  const match = matchAt(PAIR, text, at);
  if (match === null || /(?:\/|\p{L}-)$/u.test(before(text, at))) return null;
  const [whole, left = "", right = "", third] = match;
  const end = at + whole.length;
  if (third === undefined && isPressure(text, at, end, left, right))
    return { words: `${cardinalWords(left)} over ${cardinalWords(right)}`, end };
  if (third === undefined && isPartOf(text, at, end, left, right))
    return { words: `${cardinalWords(left)} of ${cardinalWords(right)}`, end };
  const isPair =
    TWO_NUMBERS.has(whole) || left === right || isMetre(text, at, end) || isVision(text, at, end, left);
  if (third === undefined && !isPair) return null;
  if (left === right && OUT_OF.has(right) && BEFORE_A_MARK.test(before(text, at)))
    return { words: `${cardinalWords(left)} out of ${cardinalWords(right)}`, end };
  const words = [left, right, ...(third === undefined ? [] : [third])].map((digits) =>
    digits.length === 3
      ? `${digits.charAt(0) === "0" ? "zero" : cardinalWords(digits.charAt(0))} ${cardinalWords(digits.slice(1))}`
      : cardinalWords(digits),
  );
  return spoken(match, words.join(" "));
};

/** "step 2/5", but "stage 1/4 full". */
function isPartOf(text: string, at: number, end: number, left: string, right: string): boolean {
  if (Number(left) > Number(right) || !isCountedThrough(before(text, at))) return false;
  return !/^ (?:of (?:an?\b|the way)|inch|full|empty|cups?|down|up)\b/u.test(after(text, end));
}

/** "128/82" in the range of blood pressures. */
function isPressure(text: string, at: number, end: number, left: string, right: string): boolean {
  const [upper, lower] = [Number(left), Number(right)];
  if (upper < 80 || upper > 250 || lower < 40 || lower > 150 || upper <= lower) return false;
  return (
    /^ ?mm ?Hg/u.test(after(text, end)) ||
    PRESSURE.test(before(text, at)) ||
    (left.length === 3 && upper < 200)
  );
}

function isMetre(text: string, at: number, end: number): boolean {
  return (
    /^ (?:time|meter|signature|beat)\b/u.test(after(text, end)) ||
    /\btime signature [^.]{0,12}$/u.test(before(text, at))
  );
}

function isVision(text: string, at: number, end: number, left: string): boolean {
  return (
    left === "20" &&
    (/^ (?:vision|eyesight)/u.test(after(text, end)) ||
      /\b(?:vision|eyesight|eyes?)\b[^.]{0,16}$/iu.test(before(text, at)))
  );
}

/** "13/40" → "13 slash 40"; scores of "8/10" and "4.5/5" → "… out of …". */
export const slashed: TokenRule = (text, at) => {
  const mark = matchAt(MARK, text, at);
  if (mark !== null && Number(mark[1]) < Number(mark[2]))
    return spoken(mark, `${numberWords(mark[1] ?? "")} out of ${mark[2]}`);
  const match = matchAt(PAIR, text, at);
  if (match === null || match[3] !== undefined || /\/$/u.test(before(text, at))) return null;
  const earlier = before(text, at);
  const isMark = OUT_OF.has(match[2] ?? "") || SCORED.test(earlier);
  const between = BEFORE_ODDS.test(earlier) ? "to" : isMark ? "out of" : "slash";
  return spoken(match, `${Number(match[1])} ${between} ${Number(match[2])}`);
};

/** "10^6" → "ten to the sixth". */
export const power = patternRule(POWER, ([, base = "", written, raised = ""]) => {
  const exponent = written ?? raised.replace(/[^⁻]/gu, (digit) => String(SUPERSCRIPTS.indexOf(digit)));
  return `${cardinalWords(base)} ${powerWords(exponent, base)}`;
});

/** "x^2", "r²" → "X squared". */
export const letterPower = patternRule(
  LETTER_POWER,
  ([, letter = "", written, sign]) =>
    `${spelled(letter)} ${powerWords(written ?? (sign === "²" ? "2" : "3"))}`,
);

const E_NOTATION = withRanges(
  /(\d{1,6}(?:\.\d{1,9})?)[eE](?:([-+−])|(?<=\.\d{1,9}e))(\d{1,3})(?![\p{L}\p{N}_]|\.\d)/uy,
);

/** "2x10^3", "2e+3" → "two times ten to the third"; "4e3" is a code. */
export const scientific: TokenRule = (text, at) => {
  const short = matchAt(E_NOTATION, text, at);
  if (short !== null) {
    const [, factor = "", sign = "+", exponent = ""] = short;
    const signed = sign === "+" ? exponent : `-${exponent}`;
    return spoken(short, `${numberWords(factor)} times ten ${powerWords(signed, "10")}`);
  }
  const match = matchAt(SCIENTIFIC, text, at);
  const raised = match === null ? null : power(text, at + match[0].length);
  return match === null || raised === null
    ? null
    : { words: `${numberWords(match[1] ?? "")} times ${raised.words}`, end: raised.end };
};

/** "4.0" → "four point zero". */
export const exactDecimal = patternRule(
  TRAILING_ZERO,
  (match) => `${cardinalWords(match[1] ?? "")} point ${digitWords(match[2] ?? "")}`,
);

/** ".22" → "point two two". */
export const pointed: TokenRule = (text, at) => {
  const match = matchAt(POINTED, text, at);
  if (match === null || !/(?:^|[\s(])[-−+~<>]?$/u.test(before(text, at))) return null;
  return spoken(match, `point ${digitWords(match[1] ?? "")}`);
};

/** Keeps whole numbers as digits, since they may be years. */
function as(number: string): string {
  return /^[1-9]\d*$/u.test(number) ? number : numberWords(number);
}
