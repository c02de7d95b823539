import { WORD, WORD_EDGE } from "./characters.ts";
import type { DifferenceId } from "./differences.ts";
import { ordinal } from "./number-words.ts";
import { alternatives, placeOf, type Rewriting, rewriting } from "./rewriting.ts";
import type { NormaliserTables } from "./tables.ts";

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
export function romanNumerals(tables: NormaliserTables, differences: ReadonlySet<DifferenceId>): Rewriting[] {
  const careful = differences.has("numeral-not-empty");
  const rule = (words: readonly string[], write: (value: number) => string): Rewriting =>
    rewriting(
      careful
        ? `(?<![${WORD}])(${alternatives(words)}) ${NUMERAL}(?![${WORD}]|\\.[${WORD}])`
        : `(?<![${WORD}])(${alternatives(words)}) ${NUMERAL}${WORD_EDGE}(?![.'’][${WORD}])`,
      (match, word = "", numeral = "", ...rest) => {
        const { at, text } = placeOf(rest);
        if (careful && !isNumeral(numeral, word, text.slice(0, at), text.slice(at + match.length)))
          return match;
        return `${word} ${write(numeralValue(numeral))}`;
      },
    );
  return [rule(tables.romanCardinal, String), rule(tables.romanOrdinal, (value) => `the ${ordinal(value)}`)];
}

/** I is mostly a pronoun, C and L are mostly letters, and "'s" may follow a king's number but not a chapter's. */
function isNumeral(numeral: string, word: string, before: string, after: string): boolean {
  if (numeral === "" || numeral === "C" || numeral === "L" || /^['’](?!s(?!\p{L}))/u.test(after))
    return false;
  if (numeral !== "I") return true;
  if (/^\p{Ll}/u.test(word))
    return /^(?:[^\p{L}\p{N} ]|$)| (?:and|or|to|of|in|is|was|\p{Lu})(?!\p{L})/u.test(after);
  if (/^(?:[^\p{L}\p{N} ']|$)| (?:and|or|of|was|is|in)(?!\p{L})/u.test(after)) return true;
  return (
    /^(?:Chapter|Part|Act|Scene|Section|Volume|Phase|Article|World War|Episode|Type|Stage)$/u.test(word) ||
    /(?:King|Queen|Pope|Tsar|Emperor|Empress|Kaiser|Prince) $/u.test(before)
  );
}

function numeralValue(numeral: string): number {
  let value = 0;
  for (let i = 0; i < numeral.length; i++) {
    const here = VALUES.get(numeral.charAt(i)) ?? 0;
    value += here < (VALUES.get(numeral.charAt(i + 1)) ?? 0) ? -here : here;
  }
  return value;
}
