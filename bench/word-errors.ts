import { cardinal, ordinal } from "../src/text/normalise/number-words.ts";

/** How many words were heard wrongly. */
export interface WordErrors {
  /** Words to insert, delete or replace. */
  readonly errors: number;
  readonly words: number;
}

/** Compares what was heard with what was said: the fewest edits between their {@link plainWords} (Levenshtein, 1966). */
export function wordErrors(said: string, heard: string): WordErrors {
  const wanted = plainWords(said);
  const found = plainWords(heard);
  let row = Array.from({ length: found.length + 1 }, (_, index) => index);
  wanted.forEach((word, at) => {
    const above = row;
    row = [at + 1];
    for (let column = 1; column <= found.length; column++) {
      const replaced = above[column - 1]! + (word === found[column - 1] ? 0 : 1);
      row.push(Math.min(replaced, above[column]! + 1, row[column - 1]! + 1));
    }
  });
  return { errors: row[found.length]!, words: wanted.length };
}

/** Words in lower case, without marks; numbers in figures spelt out. Nothing else is forgiven, spelling included. */
export function plainWords(text: string): string[] {
  return text
    .toLowerCase()
    .replace(/(?<=\d),(?=\d{3})/g, "")
    .replace(/\d+(st|nd|rd|th)\b/g, (digits) => ordinal(Number.parseInt(digits, 10)))
    .replace(/\d+/g, (digits) => ` ${cardinal(BigInt(digits))} `)
    .replace(/['’]/g, "")
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== "");
}
