import { DIGIT, SPACE, WORD } from "../characters.ts";
import { ordinal, parseInteger } from "../number-words.ts";
import type { NormaliserTables } from "../tables.ts";
import { type Rewriting, rewriting } from "./rewriting.ts";

const D = `[${DIGIT}]`;
const S = `[${SPACE}]`;
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
