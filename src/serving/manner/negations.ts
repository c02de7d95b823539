import { setOf } from "./traits.ts";

/** Whether a word, or two, say what is not wanted. */
export function isNegation(word: string, next: string): boolean {
  return NEGATIONS.has(word) || word.endsWith("n't") || PAIRS.has(`${word} ${next}`);
}

/** Whether a negation is none: "No no no, slower", "why don't you slow down?", "can't you speak up?", "not loud enough". */
export function isWishAnyway(words: readonly string[], at: number): boolean {
  const [before, word, next] = [words[at - 1], words[at]!, words[at + 1]];
  if (word === "no") return before === "no" || next === "no";
  if (word === "not" && words.slice(at + 1, at + 4).includes("enough")) return true;
  return before === "why" || (ASKING.has(word) && next === "you");
}

const NEGATIONS = setOf(
  "not no never nothing dont cannot without avoid refrain nor neither stop hardly barely scarcely",
);
export const PAIRS: ReadonlySet<string> = new Set(["rather than", "instead of", "anything but"]);
const ASKING = setOf("can't won't couldn't wouldn't");
