import { setOf } from "./traits.ts";

/** How many words, from there on, say what is not wanted; 0 where none do. */
export function negationAt(words: readonly string[], at: number): number {
  const word = words[at]!;
  if (PAIRS.has(`${word} ${words[at + 1] ?? ""}`)) return 2;
  return NEGATIONS.has(word) || word.endsWith("n't") ? 1 : 0;
}

/** Whether a negation is none: "No no no, slower", "why don't you slow down?", "can't you speak up?", "not loud enough". */
export function isWishAnyway(words: readonly string[], at: number): boolean {
  const [before, word, next] = [words[at - 1], words[at]!, words[at + 1]];
  if (word === "no") return before === "no" || next === "no";
  if (word === "not" && words.slice(at + 1, at + 4).includes("enough")) return true;
  return before === "why" || (ASKING.has(word) && next === "you");
}

/** Whether what was named before is not wanted: "a calm voice isn't what I want", "slow is not okay". */
export function isRefusal(words: readonly string[], at: number): boolean {
  const count = negationAt(words, at);
  return count > 0 && words.slice(at + count, at + count + REFUSAL_WORDS).some((word) => REFUSED.has(word));
}

const REFUSAL_WORDS = 3;
const REFUSED = setOf(
  "what want wanted need needed like liked right good wish desired okay ok appropriate allowed acceptable necessary required it welcome",
);
const NEGATIONS = setOf(
  "not no never nothing dont cannot without avoid avoiding refrain nor neither stop hardly barely scarcely isnt arent wasnt",
);
const PAIRS: ReadonlySet<string> = new Set([
  "rather than",
  "instead of",
  "anything but",
  "opposite of",
  "reverse of",
  "contrary of",
  "far from",
  "lack of",
  "free of",
  "free from",
  "devoid of",
  "nothing like",
]);
const ASKING = setOf("can't won't couldn't wouldn't");
