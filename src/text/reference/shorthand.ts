import { DIGIT, escapePattern, SPACE, WORD } from "../characters.ts";
import type { NormaliserTables } from "../tables.ts";
import { alternatives, placeOf, type Rewriting, rewriting } from "./rewriting.ts";

const D = `[${DIGIT}]`;
/** Titles, abbreviations, "No." and "#". */
export function shorthand(tables: NormaliserTables): Rewriting[] {
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
export function symbols(tables: NormaliserTables): Rewriting[] {
  return [...tables.symbols].map(([sign, words]) => {
    const escaped = escapePattern(sign);
    const between = "=<>~".includes(sign);
    return rewriting(between ? `(?<=[^${SPACE}]) ?${escaped} ?(?=[^${SPACE}])` : escaped, () =>
      words === "" ? " " : ` ${words} `,
    );
  });
}
