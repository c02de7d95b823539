import type { NormaliserTables } from "../tables.ts";
import type { Traced } from "../traced.ts";
import { amounts, figures } from "./amounts.ts";
import type { Rewriting } from "./rewriting.ts";
import { romanNumerals, shorthand, symbols } from "./shorthand.ts";
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
