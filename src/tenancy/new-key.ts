import type { BucketLimits } from "./token-bucket.ts";

/** What a new key is to be. */
export interface NewKey extends BucketLimits {
  /** For people: 1 to 200 characters, no control characters. Need not be unique. */
  readonly label: string;
}

/** The largest rate and burst of a key. */
const MAX_KEY_RATE = 1_000_000;

/** What is wrong with a key that is asked for, as one sentence, or null. */
export function newKeyProblem({ label, rpm, burst }: NewKey): string | null {
  if (label.trim() === "") return "The label is empty: say whose key it is.";
  if (label.length > 200) return "The label is longer than 200 characters: shorten it.";
  if (!label.isWellFormed() || /\p{Cc}/u.test(label)) {
    return "The label holds control characters or broken ones: leave them out.";
  }
  for (const [name, value] of Object.entries({ rpm, burst })) {
    if (!Number.isInteger(value) || value < 1 || value > MAX_KEY_RATE) {
      return `The ${name} is ${value}, but it takes a whole number from 1 to ${MAX_KEY_RATE}.`;
    }
  }
  return null;
}
