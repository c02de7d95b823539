import {
  characterCount,
  digitValue,
  firstCharacter,
  isAllDigits,
  isAllLetters,
  isLower,
  isUpper,
  lastCharacters,
} from "../characters.ts";
import { indexOf } from "../tables/string-table.ts";
import type { TaggerTables } from "../tables/text-tables.ts";

export type Tagger = (words: readonly string[]) => string[];

const MARGIN = 2;

/**
 * Tags from left to right with an averaged perceptron (Collins 2002) over the surrounding words and the last two
 * tags.
 */
export function createTagger(tables: TaggerTables): Tagger {
  const { tags, starts, weightTags, tenfoldWeights } = tables;
  const sums = new Float64Array(tags.length);

  return (words) => {
    const context = ["-START2-", "-START-", ...words.map(contextWord), "-END-", "-END2-"];
    const chosen: string[] = [];
    let [previous, beforePrevious] = ["-START-", "-START2-"];
    for (const [index, word] of words.entries()) {
      const fixed = indexOf(tables.fixedWords, word);
      const tag =
        tags[fixed >= 0 ? tables.fixedTags[fixed]! : best(word, index, context, previous, beforePrevious)] ??
        "NN";
      chosen.push(tag);
      beforePrevious = previous;
      previous = tag;
    }
    return chosen;
  };

  function contextWord(word: string): string {
    const normal = normalWord(word);
    return indexOf(tables.vocabulary, normal) >= 0 ? normal : `<${shape(word)}>`;
  }

  /** The summation order is part of the model: rounding may decide ties. */
  function best(word: string, index: number, context: readonly string[], t1: string, t2: string): number {
    const c = (offset: number): string => context[index + MARGIN + offset] ?? "";
    sums.fill(0);
    add("b");
    add(`s3=${lastCharacters(word, 3)}`);
    add(`p1=${firstCharacter(word)}`);
    add(`w=${c(0)}`);
    add(`sh=${shape(word)}`);
    add(index === 0 ? "i0" : "i+");
    add(`t-1=${t1}`);
    add(`t-2=${t2}`);
    add(`t-12=${t1},${t2}`);
    add(`w-1=${c(-1)}`);
    add(`s3-1=${lastCharacters(c(-1), 3)}`);
    add(`w-2=${c(-2)}`);
    add(`w+1=${c(1)}`);
    add(`s3+1=${lastCharacters(c(1), 3)}`);
    add(`w+2=${c(2)}`);
    let winner = 0;
    for (let tag = 1; tag < sums.length; tag++) if (sums[tag]! >= sums[winner]!) winner = tag;
    return winner;
  }

  function add(feature: string): void {
    const index = indexOf(tables.features, feature);
    if (index < 0) return;
    const end = starts[index + 1]!;
    for (let at = starts[index]!; at < end; at++) sums[weightTags[at]!]! += tenfoldWeights[at]! / 10;
  }
}

function normalWord(word: string): string {
  if (word.includes("-", 1) && !word.startsWith("-")) return "!HYPHEN";
  if (digitValue(firstCharacter(word)) >= 0) {
    return characterCount(word) === 4 && isAllDigits(word) ? "!YEAR" : "!DIGITS";
  }
  return word.toLowerCase();
}

function shape(word: string): string {
  if (isAllLetters(word)) {
    if (isLower(word)) return "x";
    if (isUpper(word)) return characterCount(word) > 1 ? "XX" : "X1";
    const first = firstCharacter(word);
    return isUpper(first) && isLower(word.slice(first.length)) ? "Xx" : "xX";
  }
  if (isAllDigits(word)) return "d";
  let written = "";
  for (const character of Array.from(word.slice(0, 8)).slice(0, 4)) {
    written += digitValue(character) >= 0 ? "d" : isAllLetters(character) ? "x" : character;
  }
  return written;
}
