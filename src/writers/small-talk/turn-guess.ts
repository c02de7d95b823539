import type { Act, ReplyBook } from "./reply-book.ts";

/** What kind of turn something is, and in which tone. */
export interface TurnGuess {
  readonly act: Act;
  /** Of the act, 0 to 1. */
  readonly probability: number;
  /** Probability of each tone, in the book's order. */
  readonly tones: readonly number[];
}

/**
 * Guesses the kind of a turn from vectors of length 1: its own, and perhaps its last sentence's. Their odds are averaged. The
 * tone is that of the whole turn.
 */
export function guessOf(
  { acts, numbers }: Pick<ReplyBook, "acts" | "numbers">,
  vectors: readonly Float32Array[],
): TurnGuess {
  const kinds = meanOdds(numbers.actWeights, numbers.actBiases, vectors);
  const tones = meanOdds(numbers.toneWeights, numbers.toneBiases, vectors.slice(0, 1));
  let best: { act: Act; probability: number } | null = null;
  for (const [n, act] of acts.entries()) {
    const probability = kinds[n] ?? 0;
    if (best === null || probability > best.probability) best = { act, probability };
  }
  if (best === null) throw new Error("the head knows no act");
  return { ...best, tones };
}

function meanOdds(weights: Float32Array, biases: Float32Array, vectors: readonly Float32Array[]): number[] {
  const each = vectors.map((vector) => oddsOf(weights, biases, vector));
  return Array.from(biases, (_, n) => each.reduce((sum, odds) => sum + (odds[n] ?? 0), 0) / each.length);
}

/** Returns the probabilities of a linear head's classes (softmax). */
function oddsOf(weights: Float32Array, biases: Float32Array, vector: Float32Array): Float64Array {
  const odds = new Float64Array(biases.length);
  let max = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < biases.length; row++) {
    let sum = biases[row] ?? 0;
    const start = row * vector.length;
    for (let i = 0; i < vector.length; i++) sum += (weights[start + i] ?? 0) * (vector[i] ?? 0);
    odds[row] = sum;
    max = Math.max(max, sum);
  }
  let total = 0;
  for (const [row, logit] of odds.entries()) {
    const odd = Math.exp(logit - max);
    odds[row] = odd;
    total += odd;
  }
  return odds.map((odd) => odd / total);
}
