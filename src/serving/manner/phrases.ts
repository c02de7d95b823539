import { FILLERS } from "./fillers.ts";
import { negationAt } from "./negations.ts";
import { AMOUNTS, DIMENSIONS, type Dimension, type Meaning, meaningOf, PITCHES, setOf } from "./traits.ts";

/** What words mean, and how many they are. */
export interface Phrase {
  readonly meaning: Meaning;
  readonly count: number;
  /** Whether it is a pitch by itself, with nothing said of what: "lower". */
  readonly isBare?: boolean;
}

/** The longest of what is known that begins there. */
export function phraseAt(words: readonly string[], at: number): Phrase | null {
  for (const count of [4, 3, 2, 1]) {
    if (at + count > words.length || (count === 1 && DIMENSIONS.has(words[at]!))) continue;
    const meaning = meaningOf(words.slice(at, at + count).join(" "));
    if (meaning !== null) return { meaning, count };
  }
  return amountAt(words, at) ?? lackAt(words, at);
}

/** Whether something is known of a word by itself: it is a wish, or asks for nothing. */
export function isKnownWord(word: string): boolean {
  const [root = ""] = word.split("'");
  return (
    root.length < 2 ||
    FILLERS.has(root) ||
    FILLERS.has(word) ||
    DIMENSIONS.has(word) ||
    AMOUNTS.has(word) ||
    VERBS.has(word) ||
    HELPERS.has(word) ||
    STRENGTHS.has(word) ||
    TOO_MUCH.has(word) ||
    negationAt([word], 0) > 0 ||
    meaningOf(word) !== null
  );
}

/** Whether something is known of the word there, where it stands: "kind of", "afraid to". */
export function isKnownAt(words: readonly string[], at: number): boolean {
  const [word, next = ""] = [words[at]!, words[at + 1]];
  return isKnownWord(word) || STRENGTHS.has(`${word} ${next}`) || isFear(word, next);
}

/** Of "don't be afraid to be loud". */
export function isFear(word: string, next: string): boolean {
  return FEARS.has(word) && next === "to";
}

const FEARS = setOf("afraid hesitate shy");

/** Whether all of some words are known, or all of them together. */
export function isKnown(words: readonly string[]): boolean {
  return meaningOf(words.join(" ")) !== null || words.every(isKnownWord);
}

/** "High energy", "a low voice", "the volume down". */
function amountAt(words: readonly string[], at: number): Phrase | null {
  const amount = AMOUNTS.get(words[at]!);
  // "Warm up your voice" raises nothing.
  if (amount === undefined || (PARTICLES.has(words[at]!) && meaningOf(words[at - 1] ?? "") !== null))
    return null;
  const pair = dimensionNear(words, at);
  if (pair !== null) return { meaning: { trait: pair[amount], strength: 1, isAllOfIt: true }, count: 1 };
  if (!PITCHES.has(words[at]!)) return null;
  const trait = amount === 0 ? "lower" : "higher";
  return { meaning: { trait, strength: 1, isAllOfIt: true }, count: 1, isBare: true };
}

/** "No energy", "little expression", and what is had of them: "with enthusiasm", "a little energy". */
function lackAt(words: readonly string[], at: number): Phrase | null {
  const word = words[at]!;
  const count = ARTICLES.has(words[at + 1] ?? "") ? 3 : 2;
  const pair = DIMENSIONS.get(words[at + count - 1] ?? "");
  if (pair === undefined || !HAD.has(words[at + count - 1]!)) return null;
  if (word === "little" && words[at - 1] === "a")
    return { meaning: { trait: pair[1], strength: 0.5, isAllOfIt: true }, count };
  const amount = LACKS.has(word) ? 0 : HAS.has(word) ? 1 : null;
  return amount === null ? null : { meaning: { trait: pair[amount], strength: 1, isAllOfIt: true }, count };
}

/** What there is much or little of by the amount there. */
function dimensionNear(words: readonly string[], at: number): Dimension | null {
  const pitch = DIMENSIONS.get("pitch");
  // "Less fast a pace" is about fast.
  const isOnward = ONWARD.has(words[at]!);
  const onward = words[at + 1] === "of" ? at + 2 : at + 1;
  for (const near of isOnward ? [onward] : [at + 1, at - 1, at + 2, at - 2]) {
    const isApart = words[near] === "," || words[(near + at) >> 1] === ",";
    const found = isApart ? undefined : DIMENSIONS.get(words[near] ?? "");
    if (found === undefined) continue;
    // "Pitch variation" is variation, and an "energy voice" none of pitch.
    const whole = near > at ? DIMENSIONS.get(words[near + 1] ?? "") : undefined;
    return whole === undefined || whole === pitch ? found : whole;
  }
  if (isOnward) return null;
  // "The volume is much too low."
  let before = at - 1;
  while (before > at - MAX_LINKING && LINKING.has(words[before] ?? "")) before -= 1;
  return DIMENSIONS.get(words[before] ?? "") ?? null;
}

/** What makes another word of the one before: "warm up". */
export const PARTICLES = setOf("up off out");
/** Amounts of what comes behind them. */
export const ONWARD = setOf("more less much enough lot lots");
const LINKING = setOf("is are was a bit little far much way very so too");
const MAX_LINKING = 6;
const ARTICLES = setOf("any much some all");
/** What one may have or lack; of a volume there is always some. */
const HAD = setOf("energy enthusiasm intensity expression expressiveness inflection intonation variation");
const LACKS = setOf("no without little zero minimal lacking");
const HAS = setOf("with add use show bring");

/** What asks for speech. */
export const VERBS = setOf(
  "speak talk say read sound keep stay be use make remain deliver start begin end finish play",
);
const HELPERS = setOf("but instead however yet rather up down top half twice double triple");
export const TOO_MUCH = setOf("too less overly excessively");
/** How much, by the words for it; 1 is what the trait itself is. */
export const STRENGTHS: ReadonlyMap<string, number> = new Map([
  ...[
    "slightly",
    "bit",
    "little",
    "somewhat",
    "mildly",
    "touch",
    "subtly",
    "kinda",
    "kind of",
    "sort of",
    "tiny",
    "tad",
  ].map((word) => [word, 0.5] as const),
  ...["pretty", "fairly"].map((word) => [word, 1] as const),
  ..."very really extremely super extra deeply profoundly highly much lot incredibly absolutely especially"
    .split(" ")
    .map((word) => [word, 1.6] as const),
]);
