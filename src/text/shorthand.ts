import { DIGIT, escapePattern, SPACE, WORD } from "./characters.ts";
import type { DifferenceId } from "./differences.ts";
import { alternatives, placeOf, type Rewriting, rewriting } from "./rewriting.ts";
import type { NormaliserTables } from "./tables.ts";

const D = `[${DIGIT}]`;
/** Abbreviations that are words too, and after what (or before what) they are no words. */
const ALSO_WORDS: ReadonlyMap<string, { readonly after?: RegExp; readonly before?: RegExp }> = new Map([
  ["no.", { before: /^ ?\p{Nd}/u }],
  ["nos.", { before: /^ ?\p{Nd}/u }],
  ["est.", { before: /^ ?\p{Nd}/u }],
  ["ed.", { after: /(?:\p{Nd}|st|nd|rd|th|rev\.|new) ?$/u }],
  ["Sun.", { after: /(?<!\b(?:the|The|a|that|our) )$/u }],
]);

/** Titles, abbreviations, "No." and "#". */
export function shorthand(tables: NormaliserTables, differences: ReadonlySet<DifferenceId>): Rewriting[] {
  const { titles, abbreviations } = tables;
  const careful = differences.has("word-not-abbreviation");
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
        const isWord = careful && ALSO_WORDS.get(key);
        if (isWord) {
          const isAlone = at === 0 && end === text.length && key !== "no.";
          if (!isAlone && isWord.before?.test(text.slice(end, end + 3)) === false) return match;
          if (isWord.after?.test(text.slice(Math.max(0, at - 8), at)) === false) return match;
        }
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
export function symbols(tables: NormaliserTables): Rewriting[] {
  return [...tables.symbols].map(([sign, words]) => {
    const escaped = escapePattern(sign);
    const between = "=<>~".includes(sign);
    return rewriting(between ? `(?<=[^${SPACE}]) ?${escaped} ?(?=[^${SPACE}])` : escaped, () =>
      words === "" ? " " : ` ${words} `,
    );
  });
}
