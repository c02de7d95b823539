import { addresses } from "./addresses.ts";
import { amounts } from "./amounts.ts";
import { isSpaceCode, SPACE, strip } from "./characters.ts";
import type { DifferenceId } from "./differences.ts";
import { figures } from "./figures.ts";
import type { Rewriting } from "./rewriting.ts";
import { romanNumerals } from "./roman-numerals.ts";
import { shorthand, symbols } from "./shorthand.ts";
import type { NormaliserTables } from "./tables.ts";
import { monthDates, timesAndDigitDates } from "./times-and-dates.ts";

/** Writes out what is not written as it is said: times, dates, money, measures, abbreviations, numerals, signs. */
export type Normaliser = (sentence: string) => string;

const SPACES = new RegExp(`[${SPACE}]+`, "gu");
const ANY_DIGIT = /\p{Nd}/u;

export function createNormaliser(
  tables: NormaliserTables,
  differences: ReadonlySet<DifferenceId>,
): Normaliser {
  const rules: readonly Rewriting[] = [
    ...addresses(differences),
    ...timesAndDigitDates(tables),
    ...amounts(tables, differences),
    ...monthDates(tables, differences),
    ...shorthand(tables, differences),
    ...romanNumerals(tables, differences),
    ...figures(tables, differences),
    ...symbols(tables),
  ];
  const dashes = differences.has("spaced-hyphen-is-a-dash");
  return (sentence) => {
    let text = tidySpaces(sentence).replaceAll("’", "'").replaceAll("\u2012", "-").replaceAll("\u2015", "—");
    const hasDigit = ANY_DIGIT.test(text);
    for (const { pattern, write, needsDigit } of rules) {
      if (!needsDigit || hasDigit) text = text.replace(pattern, write);
    }
    text = tidySpaces(text.replace(SPACES, " ").replace(/ +([,.;:!?])/g, "$1"));
    return dashes ? text.replace(/(?<=[^\s-]) --? (?=[^\s-])/g, " — ") : text;
  };
}

/** One space for each run of spaces, none at the ends. */
function tidySpaces(text: string): string {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isSpaceCode(code) && (code !== 0x20 || i === 0 || i === text.length - 1 || text[i - 1] === " ")) {
      return strip(text.replace(SPACES, " "));
    }
  }
  return text;
}
