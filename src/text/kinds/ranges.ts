import { light } from "./light.ts";
import { cardinalWords, digitWords, NUMBER, numberWords, ordinalWords } from "./numerals.ts";
import { after, before, type Kind, matchAt } from "./spoken.ts";

const RANGE = light(
  new RegExp(`(${NUMBER})(%?)( ?[-–—] ?)(${NUMBER})( ?%)?(?![\\p{L}\\p{N}_/]|[-–—.:]\\d)`, "yu"),
);
const SEASON = light(/([12]\d{3})[/](\d{2})(?![\d/\p{L}])/uy);
const PAIR = light(/(\d{1,3})\/(\d{1,3})(?:\/(\d{3}))?(?![\d/\p{L}]|\.\d)/uy);
/** Pairs that are said as two numbers. */
const TWO_NUMBERS: ReadonlySet<string> = new Set([
  "24/7",
  "9/11",
  "20/20",
  "50/50",
  "60/40",
  "80/20",
  "70/30",
  "90/10",
]);
const POWER = light(/(\d{1,6})(?:\^([-−]?\d{1,3})|([⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))(?![\p{L}\p{N}])/uy);
/** What marks are given out of. */
const OUT_OF: ReadonlySet<string> = new Set(["5", "10", "20", "100"]);
const SCIENTIFIC = /(\d{1,6}(?:\.\d{1,6})?) ?[x×*·] ?(?=10[\^⁻⁰¹²³⁴⁵⁶⁷⁸⁹])/uy;
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const TRAILING_ZERO = light(/(\d{1,3}(?:,\d{3})+|\d{1,9})\.(\d{0,8}0)(?![\p{L}\p{N}_]|[.,]\d)/uy);

/** "6-4", "1914-1918", "10-12 %", "4%-6%" → "… to …"; in a sum ("8 - 2 =") it is a minus. */
export const range: Kind = (text, at) => {
  const match = matchAt(RANGE, text, at);
  if (match === null || /[.\-–:/]$/u.test(before(text, at)) || /^\.\d/u.test(match[0])) return null;
  const [whole, from = "", , joint = "", to = "", percent] = match;
  const end = at + whole.length;
  if (from.length > 5 && !from.includes(",") && !from.includes(".")) return null;
  if (joint === " - " && (/^ ?=/u.test(after(text, end)) || /[=+] ?$/u.test(before(text, at))))
    return { words: `${numberWords(from)} minus ${numberWords(to)}`, end };
  return { words: `${as(from)} to ${as(to)}${percent === undefined ? "" : " percent"}`, end };
};

/** Numbers with a slash that are neither a date nor a fraction: "24/7", "2018/19", "20/20". */
export const pair: Kind = (text, at) => {
  const season = matchAt(SEASON, text, at);
  if (season !== null) return { words: `${season[1]} ${season[2]}`, end: at + season[0].length };
  const match = matchAt(PAIR, text, at);
  if (match === null || /\/$/u.test(before(text, at))) return null;
  const [whole, left = "", right = "", third] = match;
  if (third === undefined && !TWO_NUMBERS.has(whole) && left !== right) return null;
  const words = [left, right, ...(third === undefined ? [] : [third])].map((digits) =>
    digits.length === 3
      ? `${digits.charAt(0) === "0" ? "zero" : cardinalWords(digits.charAt(0))} ${cardinalWords(digits.slice(1))}`
      : cardinalWords(digits),
  );
  return { words: words.join(" "), end: at + whole.length };
};

/** What is left of numbers with a slash: "13/40" → "13 slash 40", a score of "8/10" → "eight out of ten". */
export const slashed: Kind = (text, at) => {
  const match = matchAt(PAIR, text, at);
  if (match === null || match[3] !== undefined || /\/$/u.test(before(text, at))) return null;
  const between = OUT_OF.has(match[2] ?? "") ? "out of" : "slash";
  return { words: `${Number(match[1])} ${between} ${Number(match[2])}`, end: at + match[0].length };
};

/** "10^6" → "ten to the sixth". */
export const power: Kind = (text, at) => {
  const match = matchAt(POWER, text, at);
  if (match === null) return null;
  const [whole, base = "", written, raised] = match;
  const sign = /^[-−⁻]/u.test(written ?? raised ?? "");
  const exponent =
    written?.replace(/^[-−]/u, "") ??
    Array.from(raised ?? "", (digit) => SUPERSCRIPTS.indexOf(digit))
      .filter((digit) => digit >= 0)
      .join("");
  const words =
    base !== "10" && !sign && (exponent === "2" || exponent === "3")
      ? exponent === "2"
        ? "squared"
        : "cubed"
      : sign
        ? `to the minus ${cardinalWords(exponent)}`
        : `to the ${ordinalWords(exponent)}`;
  return { words: `${cardinalWords(base)} ${words}`, end: at + whole.length };
};

/** "2x10^3" → "two times ten to the third". */
export const scientific: Kind = (text, at) => {
  const match = matchAt(SCIENTIFIC, text, at);
  const raised = match === null ? null : power(text, at + match[0].length);
  return match === null || raised === null
    ? null
    : { words: `${numberWords(match[1] ?? "")} times ${raised.words}`, end: raised.end };
};

/** "4.0" → "four point zero": zeros at the end are written because they are meant. */
export const exactDecimal: Kind = (text, at) => {
  const match = matchAt(TRAILING_ZERO, text, at);
  if (match === null) return null;
  return {
    words: `${cardinalWords(match[1] ?? "")} point ${digitWords(match[2] ?? "")}`,
    end: at + match[0].length,
  };
};

/** Whole numbers stay digits, which may be years; all others are said as they are written. */
function as(number: string): string {
  return /^[1-9]\d*$/u.test(number) ? number : numberWords(number);
}
