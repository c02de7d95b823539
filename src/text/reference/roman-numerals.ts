import { WORD, WORD_EDGE } from "../characters.ts";
import { ordinal } from "../number-words.ts";
import type { NormaliserTables } from "../tables.ts";
import { alternatives, type Rewriting, rewriting } from "./rewriting.ts";

const NUMERAL = "((?=[IVXLC])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))";
const VALUES: ReadonlyMap<string, number> = new Map([
  ["I", 1],
  ["V", 5],
  ["X", 10],
  ["L", 50],
  ["C", 100],
  ["D", 500],
  ["M", 1000],
]);

/** "Act I" → "Act 1", "Henry VIII" → "Henry the eighth". */
export function romanNumerals(tables: NormaliserTables): Rewriting[] {
  const rule = (words: readonly string[], write: (value: number) => string): Rewriting =>
    rewriting(
      `(?<![${WORD}])(${alternatives(words)}) ${NUMERAL}${WORD_EDGE}(?![.'’][${WORD}])`,
      (_match, word = "", numeral = "") => `${word} ${write(numeralValue(numeral))}`,
    );
  return [rule(tables.romanCardinal, String), rule(tables.romanOrdinal, (value) => `the ${ordinal(value)}`)];
}

function numeralValue(numeral: string): number {
  let value = 0;
  for (let i = 0; i < numeral.length; i++) {
    const here = VALUES.get(numeral.charAt(i)) ?? 0;
    value += here < (VALUES.get(numeral.charAt(i + 1)) ?? 0) ? -here : here;
  }
  return value;
}
