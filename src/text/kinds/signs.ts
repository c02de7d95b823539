import type { NormaliserTables } from "../tables.ts";
import { light } from "./light.ts";
import { after, before, isWordCharacter, type Kind } from "./spoken.ts";

/** Signs as words that the voice's own list lacks or says otherwise. */
const MORE: readonly (readonly [string, string])[] = [
  ["≠", "is not equal to"],
  ["≈", "approximately"],
  ["≥", "greater than or equal to"],
  ["≤", "less than or equal to"],
  [">=", "greater than or equal to"],
  ["<=", "less than or equal to"],
  ["!=", "is not equal to"],
  ["==", "equals"],
  ["=>", ", "],
  ["->", "to"],
  ["⇒", ", "],
  ["→", ", "],
  ["√", "square root of"],
  ["∞", "infinity"],
  ["π", "pi"],
  ["∑", "sum of"],
  ["‰", "per mille"],
  ["№", "number"],
  ["✓", ""],
  ["✔", ""],
  ["★", ""],
  ["☆", ""],
  ["‣", ""],
  ["▪", ""],
  ["†", ""],
];
const NUMBER_AFTER = /^ ?[$£€]?\.?\d/u;
const LETTER_NEXT = light(/^ ?\p{L}/u);
const WORD_LAST = light(/[\p{L}\p{N}] ?$/u);
const SPACED = "=<>~";

/** Signs that are said. Between two things "=" and "<" are words too; a minus belongs to the number behind it. */
export function signs(tables: NormaliserTables): Kind {
  const words = new Map([...tables.symbols, ...MORE]);
  return (text, at) => {
    const character = text.charAt(at);
    const two = text.slice(at, at + 2);
    const rest = after(text, at + 1);
    const earlier = before(text, at);
    const last = earlier.charAt(earlier.length - 1);
    if (words.has(two) && two.length === 2) return { words: words.get(two) ?? "", end: at + 2 };
    if (character === "#") {
      if (/^\d/u.test(rest) && !isWordCharacter(last) && last !== "&")
        return { words: "number ", end: at + 1 };
      return {
        words: /\d$/u.test(earlier) ? "hash" : isWordCharacter(rest.charAt(0)) ? "hashtag " : "hash",
        end: at + 1,
      };
    }
    if (character === "−" || character === "-") {
      const isMinus = NUMBER_AFTER.test(rest) && /(?:^|[\s(=<>≤≥~±^*×÷/])$/u.test(earlier);
      if (character === "−")
        return { words: isMinus || !LETTER_NEXT.test(rest) ? "minus " : " — ", end: at + 1 };
      return isMinus && /^\.?\d/u.test(rest) ? { words: "minus ", end: at + 1 } : null;
    }
    if (character === "*" && /^ ?\d/u.test(rest) && /\d ?$/u.test(earlier))
      return { words: " times ", end: at + 1 };
    if (character === "+")
      return /^\d/u.test(rest) && !isWordCharacter(last) && last !== "+"
        ? { words: "plus ", end: at + 1 }
        : null;
    if (character === "÷" || character === "×") return { words: words.get(character) ?? "", end: at + 1 };
    if (SPACED.includes(character)) return comparison(text, at, words.get(character) ?? "");
    const said = words.get(character) ?? words.get(String.fromCodePoint(text.codePointAt(at) ?? 0));
    return said === undefined ? null : { words: said.trim() === "" ? " " : said, end: at + 1 };
  };
}

/** "x = y", ">50", "~20"; what opens or closes nothing else is left to be dropped. */
function comparison(text: string, at: number, words: string): { words: string; end: number } | null {
  const rest = after(text, at + 1);
  const character = text.charAt(at);
  if (character === "<" && /^3(?!\d)/u.test(rest) && !WORD_LAST.test(before(text, at))) return null;
  if (at === 0 && !NUMBER_AFTER.test(rest)) return character === ">" ? { words: "", end: at + 1 } : null;
  if (rest.trim() === "") return null;
  return { words, end: at + 1 };
}
