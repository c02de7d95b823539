import { DIGIT, escapePattern, SPACE, WORD, WORD_EDGE } from "../../characters.ts";
import type { NormaliserTables } from "../../tables/tables.ts";
import type { Traced } from "../../traced.ts";
import { ordinal, romanValue } from "../number-words.ts";
import { amounts, figures } from "./amounts.ts";
import { alternatives, placeOf, type Rewriting, rewriting } from "./rewrite-rule.ts";
import { monthDates, timesAndDigitDates } from "./times-and-dates.ts";

const ANY_DIGIT = /\p{Nd}/u;

/** Rewrites a sentence as the reference does: rule after rule, each over the result of the one before. */
export function createReferenceRewriting(tables: NormaliserTables): (sentence: Traced) => Traced {
  const rules: readonly Rewriting[] = [
    ...timesAndDigitDates(tables),
    ...amounts(tables),
    ...monthDates(tables),
    ...shorthand(tables),
    ...romanNumerals(tables),
    ...figures(tables),
    ...symbols(tables),
  ];
  return (sentence) => {
    let text = sentence;
    const hasDigit = ANY_DIGIT.test(text.text);
    for (const { pattern, write, needsDigit } of rules) {
      if (!needsDigit || hasDigit) text = text.replace(pattern, write);
    }
    return text;
  };
}

const D = `[${DIGIT}]`;
/** Titles, abbreviations, "No." and "#". */
function shorthand(tables: NormaliserTables): Rewriting[] {
  const { titles, abbreviations } = tables;
  return [
    rewriting(
      `(?<![${WORD}])(${alternatives(titles.keys())})\\.? (?=[A-Z])`,
      (_match, title = "") => `${titles.get(title)} `,
    ),
    rewriting(
      `(?<![${WORD}.])(${alternatives(abbreviations.keys())})(?![${WORD}])`,
      (match, key = "", ...rest) => {
        const { at, text } = placeOf(rest);
        const end = at + match.length;
        return `${abbreviations.get(key)}${end === text.length && key.endsWith(".") ? "." : ""}`;
      },
    ),
    rewriting(
      `(?<![${WORD}])(No|Nos)\\. ?(?=${D})`,
      (_match, key) => (key === "No" ? "Number " : "Numbers "),
      { needsDigit: true },
    ),
    rewriting(`(?<![${WORD}&])#(?=${D})`, () => "number ", { needsDigit: true }),
  ];
}

/** Signs that are said: "x = y" → "x equals y". Each is a rule of its own, in the table's order. */
function symbols(tables: NormaliserTables): Rewriting[] {
  return [...tables.symbols].map(([sign, words]) => {
    const escaped = escapePattern(sign);
    const between = "=<>~".includes(sign);
    return rewriting(between ? `(?<=[^${SPACE}]) ?${escaped} ?(?=[^${SPACE}])` : escaped, () =>
      words === "" ? " " : ` ${words} `,
    );
  });
}

const NUMERAL = "((?=[IVXLC])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))";

/** "Act I" → "Act 1", "Henry VIII" → "Henry the eighth". */
function romanNumerals(tables: NormaliserTables): Rewriting[] {
  const rule = (words: readonly string[], write: (value: number) => string): Rewriting =>
    rewriting(
      `(?<![${WORD}])(${alternatives(words)}) ${NUMERAL}${WORD_EDGE}(?![.'’][${WORD}])`,
      (_match, word = "", numeral = "") => `${word} ${write(romanValue(numeral))}`,
    );
  return [rule(tables.romanCardinal, String), rule(tables.romanOrdinal, (value) => `the ${ordinal(value)}`)];
}
