import type { Utterance } from "./codec-language-model.ts";

export interface SamplerConfig {
  /** Divisor of the logits; about 0 selects the likeliest. */
  readonly temperature: number;
  /** Number of likeliest codes to keep, and ties with the last; `null`: all. */
  readonly topK: number | null;
  /** Probability mass of likeliest codes to keep; `null` or 1: all. */
  readonly topP?: number | null;
}

/** Samples a code. @param draw returns a number in [0, 1); called once, or not at all at temperature 0 */
export function sampleCode(logits: Float32Array, config: SamplerConfig, draw: () => number): number {
  if (config.temperature < MIN_TEMPERATURE) return argmax(logits);
  if (scratch.length < logits.length) scratch = new Float64Array(logits.length);
  const shares = scratch.subarray(0, logits.length);
  fillProbabilities(shares, logits, config);
  return drawIndex(shares, draw());
}

/** Below this, scores overflow a float32; only the likeliest is chosen long before. */
const MIN_TEMPERATURE = 1e-30;

/** Reused, since there are thousands of choices a second. */
let scratch = new Float64Array(0);

/** Returns the index of the largest logit, the first of equal ones. */
export function argmax(logits: Float32Array): number {
  let best = 0;
  for (let at = 1; at < logits.length; at++) if (logits[at]! > logits[best]!) best = at;
  return best;
}

/**
 * Returns the probability of each code, in the order of transformers' logit processors: temperature, top-k, top-p,
 * softmax. A logit of minus infinity gets 0.
 */
export function probabilities(logits: Float32Array, config: SamplerConfig): Float64Array {
  const shares = new Float64Array(logits.length);
  fillProbabilities(shares, logits, config);
  return shares;
}

function fillProbabilities(
  shares: Float64Array,
  logits: Float32Array,
  { temperature, topK, topP }: SamplerConfig,
): void {
  const count = logits.length;
  const scores = new Float32Array(count);
  for (let at = 0; at < count; at++) scores[at] = logits[at]! / temperature;
  fillSoftmax(
    shares,
    scores,
    topK !== null && topK < count ? largest(scores, topK) : Number.NEGATIVE_INFINITY,
  );
  if (topP == null || topP >= 1) return;
  // Drop the least likely codes while their sum is at most 1 - topP, but never the likeliest.
  const rising = Array.from(shares.keys()).sort((a, b) => shares[a]! - shares[b]!);
  let gone = 0;
  for (const at of rising.slice(0, -1)) {
    gone += shares[at]!;
    if (gone > 1 - topP) break;
    scores[at] = Number.NEGATIVE_INFINITY;
  }
  for (let at = 0; at < count; at++) if (shares[at] === 0) scores[at] = Number.NEGATIVE_INFINITY;
  fillSoftmax(shares, scores, Number.NEGATIVE_INFINITY);
}

/** Returns the k-th largest. Most numbers are below all k kept so far, and cost one comparison. */
function largest(numbers: Float32Array, k: number): number {
  const rising = new Float32Array(k).fill(Number.NEGATIVE_INFINITY);
  for (const number of numbers) {
    if (!(number > rising[0]!)) continue;
    let at = 0;
    for (; at + 1 < k && rising[at + 1]! < number; at++) rising[at] = rising[at + 1]!;
    rising[at] = number;
  }
  return rising[0]!;
}

/** @param min scores below it get probability 0 */
function fillSoftmax(shares: Float64Array, scores: Float32Array, min: number): void {
  let max = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < scores.length; at++) if (scores[at]! > max) max = scores[at]!;
  let sum = 0;
  for (let at = 0; at < scores.length; at++) {
    const score = scores[at]!;
    const isOut = score < min || score === Number.NEGATIVE_INFINITY;
    const weight = isOut ? 0 : Math.exp(score - max);
    shares[at] = weight;
    sum += weight;
  }
  for (let at = 0; at < scores.length; at++) shares[at]! /= sum;
}

/** Returns the first index at which the cumulative sum exceeds the number. */
function drawIndex(shares: Float64Array, number: number): number {
  let sum = 0;
  let last = 0;
  for (let at = 0; at < shares.length; at++) {
    if (shares[at] === 0) continue;
    last = at;
    sum += shares[at]!;
    if (sum > number) return at;
  }
  if (!(sum > 0)) throw new Error("No code can be chosen: the scores are NaN or infinite.");
  // Rounding may leave the sum slightly below 1.
  return last;
}

/** A penalty on first codes that were chosen before. */
export interface RepetitionPenalty {
  readonly apply: (score: number) => number;
  readonly window: number | null;
}

/** First codes of an utterance's frames in order. */
export class CodeHistory {
  readonly #codes: number[] = [];

  get count(): number {
    return this.#codes.length;
  }

  add(code: number): void {
    this.#codes.push(code);
  }

  /** Returns a copy of the logits with the penalty applied once per code, except to `spared`. */
  penalise(logits: Float32Array, penalty: RepetitionPenalty | null, spared: number | null): Float32Array {
    const scores = logits.slice();
    if (penalty === null) return scores;
    const { window, apply } = penalty;
    for (const code of new Set(window === null ? this.#codes : this.#codes.slice(-window))) {
      if (code !== spared) scores[code] = apply(scores[code]!);
    }
    return scores;
  }
}

/** A source of numbers in [0, 1). */
export type Rng = () => number;

export function createRng({ uniforms, seed }: Pick<Utterance, "uniforms" | "seed">): Rng {
  return uniforms === null ? seededRng(seed) : replayRng(uniforms);
}

const GOLDEN_GAMMA = 0x9e37_79b9_7f4a_7c15n;

/**
 * Returns draws that depend only on the seed and their index, so that the batch does not affect them (SplitMix64;
 * Steele, Lea & Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
 *
 * @param seed 64 bits
 */
export function seededRng(seed: bigint): Rng {
  let count = 0n;
  return () => {
    count++;
    return Number(mix(seed + count * GOLDEN_GAMMA) >> 11n) / 2 ** 53;
  };
}

/** Returns the given draws in order. The generator throws when there are no more. */
export function replayRng(numbers: readonly number[]): Rng {
  let at = 0;
  return () => {
    const number = numbers[at++];
    if (number === undefined) throw new Error(`Only ${numbers.length} draws were given; more are needed.`);
    return number;
  };
}

/** Derives the seed of one of several independent generators; number 0 gets the seed itself. */
export function deriveSeed(seed: bigint, number: number): bigint {
  return number === 0 ? seed : mix(seed + BigInt(number) * 0xd1b5_4a32_d192_ed03n);
}

function mix(sum: bigint): bigint {
  let bits = BigInt.asUintN(64, sum);
  bits = BigInt.asUintN(64, (bits ^ (bits >> 30n)) * 0xbf58_476d_1ce4_e5b9n);
  bits = BigInt.asUintN(64, (bits ^ (bits >> 27n)) * 0x94d0_49bb_1331_11ebn);
  return bits ^ (bits >> 31n);
}
