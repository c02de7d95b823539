import { DIGIT, SPACE, WORD } from "../../characters.ts";
import type { NormaliserTables } from "../../tables/tables.ts";
import { ordinal, parseInteger } from "../number-words.ts";
import { alternatives, counted, NUMBER, type Rewriting, rewriting } from "./rewrite-rule.ts";

const S = `[${SPACE}]`;
const APART = `(?<![${WORD}.])`;
const NO_WORD = `(?![${WORD}])`;
const BIG = "hundred|thousand|million|billion|trillion";
const BIG_LETTERS: ReadonlyMap<string, string> = new Map([
  ["k", "thousand"],
  ["m", "million"],
  ["b", "billion"],
]);

/** Money that is not simply a sign and a number (the lexicon reads those), degrees, and units of measure. */
export function amounts(tables: NormaliserTables): Rewriting[] {
  const currency = (sign: string): readonly [string, string] => tables.currency.get(sign) ?? [sign, sign];
  const units = tables.units;
  const big = `(${BIG}|[kKmMbB]${NO_WORD})`;
  return [
    rewriting(
      `([$£€])(${NUMBER})${S}?${big}`,
      (_match, sign = "", count = "", scale = "") => `${count} ${scaleWord(scale)} ${currency(sign)[1]}`,
      { needsDigit: true },
    ),
    rewriting(
      `${APART}(${NUMBER})${S}?¢`,
      (_match, count = "") => `${count} ${counted(count, currency("¢"))}`,
      { needsDigit: true },
    ),
    rewriting(
      `(?<![${WORD}])([¥₹₩]|Rs\\.?|USD|EUR|GBP)${S}?(${NUMBER})(?:${S}?(${BIG}|[kKmMbB]${NO_WORD}))?`,
      (_match, sign = "", count = "", scale) => {
        const forms = currency(sign.endsWith(".") ? sign.slice(0, -1) : sign);
        return scale === undefined
          ? `${count} ${counted(count, forms)}`
          : `${count} ${scaleWord(scale)} ${forms[1]}`;
      },
      { needsDigit: true },
    ),
    rewriting(
      `${APART}(-?${NUMBER})${S}?°${S}?([CF])?${NO_WORD}`,
      (_match, count = "", scale) => {
        const name = scale === "C" ? " Celsius" : scale === "F" ? " Fahrenheit" : "";
        return `${count} ${counted(count, ["degree", "degrees"])}${name}`;
      },
      { needsDigit: true },
    ),
    rewriting(
      `${APART}(-?${NUMBER})${S}?(${alternatives(units.keys())})${NO_WORD}`,
      (_match, count = "", unit = "") => `${count} ${counted(count, units.get(unit) ?? [unit, unit])}`,
      { needsDigit: true },
    ),
  ];
}

function scaleWord(written: string): string {
  return BIG_LETTERS.get(written.toLowerCase()) ?? written;
}

const D = `[${DIGIT}]`;
const PARTS = "third quarter fifth sixth seventh eighth ninth tenth".split(" ");

/** Telephone numbers, fractions, ranges and a plus before a number. */
export function figures(tables: NormaliserTables): Rewriting[] {
  const months = [...tables.months.values()];
  /** What may not follow: more of the same word or number. */
  const notBefore = (others: string): string => `(?![${WORD}.${others}])`;
  return [
    rewriting(
      `(?<![${WORD}.\\-])(?:${D}{3}-)?${D}{3}-${D}{4}${notBefore("\\-")}`,
      (match) => {
        return Array.from(match.replaceAll("-", ", ")).join(" ");
      },
      { needsDigit: true },
    ),
    rewriting(
      `(?<![${WORD}./])(${D}{1,2})/(${D}{1,2})${notBefore("/")}`,
      (_match, above = "", below = "") => fraction(above, below, months),
      { needsDigit: true },
    ),
    rewriting(
      `(?<![${WORD}.\\-])(${D}{1,4})${S}?[-–]${S}?(${D}{1,4})${notBefore("\\-%")}`,
      (_match, from = "", to = "") => `${from} to ${to}`,
      { needsDigit: true },
    ),
    rewriting(`(?<![${WORD}+])\\+(?=${D})`, () => "plus ", { needsDigit: true }),
  ];
}

function fraction(above: string, below: string, months: readonly string[]): string {
  const [a, b] = [Number(parseInteger(above)), Number(parseInteger(below))];
  if (a > 0 && a < b && b <= 10) {
    if (b === 2) return "one half";
    return `${above} ${PARTS[b - 3]}${a === 1 ? "" : "s"}`;
  }
  const month = months[a - 1];
  if (month !== undefined && b >= 1 && b <= 31) return `${month} ${ordinal(b)}`;
  return `${a} slash ${b}`;
}
