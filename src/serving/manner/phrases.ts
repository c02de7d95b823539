import { AMOUNTS, DIMENSIONS, type Dimension, type Meaning, meaningOf, PITCHES, setOf } from "./traits.ts";

/** What words mean, and how many they are. */
export interface Phrase {
  readonly meaning: Meaning;
  readonly count: number;
}

/** The longest of what is known that begins there. */
export function phraseAt(words: readonly string[], at: number): Phrase | null {
  for (const count of [3, 2, 1]) {
    const meaning = at + count > words.length ? null : meaningOf(words.slice(at, at + count).join(" "));
    if (meaning !== null) return { meaning, count };
  }
  return null;
}

/** "High energy", "a low voice", "the volume down". */
export function amountAt(words: readonly string[], at: number): Phrase | null {
  const amount = AMOUNTS.get(words[at]!);
  if (amount === undefined) return null;
  const pair = dimensionNear(words, at);
  if (pair !== null) return { meaning: { trait: pair[amount], strength: 1, isAllOfIt: true }, count: 1 };
  if (!PITCHES.has(words[at]!)) return null;
  return { meaning: { trait: amount === 0 ? "lower" : "higher", strength: 1, isAllOfIt: true }, count: 1 };
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

/** Amounts of what comes behind them. */
const ONWARD = setOf("more less much enough lot");
const LINKING = setOf("is are was a bit little far much way very so too");
const MAX_LINKING = 6;
