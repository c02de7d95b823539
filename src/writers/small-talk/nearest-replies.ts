import type { Bank, BankEntry, ReplyNumbers } from "./reply-book.ts";

/** A reply of another conversation. */
export interface FoundReply {
  readonly entry: BankEntry;
  /** Cosine of the turn that it answered and the newest one. */
  readonly likeness: number;
  /** Whether nothing was said before the turn that it answered. */
  readonly isOpening: boolean;
}

/** Weight of the turn before the newest, whose own is 1. */
const PREVIOUS_WEIGHT = 0.4;
/** Replies that are returned. */
const CANDIDATES = 32;

/**
 * Returns the replies whose own turns are nearest to the newest one and the one before it, the best first; of equals, the one
 * that stands first in the bank.
 *
 * @param newest a vector of the encoder's width and length 1
 * @param previous the same of the turn before, or `null` if there is none
 */
export function nearestReplies(
  bank: Bank,
  numbers: ReplyNumbers,
  newest: Float32Array,
  previous: Float32Array | null,
): FoundReply[] {
  const asked = projected(numbers.projection, newest);
  const before = previous === null ? null : projected(numbers.projection, previous);
  const rank = asked.length;
  const unit = 1 / (127 * 127);
  const found: { index: number; likeness: number; score: number }[] = [];
  let min = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < bank.length; index++) {
    const likeness = dot(numbers.newest, index * rank, asked) * unit;
    const row = numbers.previous[index] ?? -1;
    const context =
      before === null || row < 0 ? null : dot(numbers.previousVectors, row * rank, before) * unit;
    const score = likeness + PREVIOUS_WEIGHT * (before === null ? 0 : (context ?? NO_CONTEXT));
    if (found.length === CANDIDATES && score <= min) continue;
    let place = found.length;
    while (place > 0 && (found[place - 1]?.score ?? 0) < score) place--;
    found.splice(place, 0, { index, likeness, score });
    if (found.length > CANDIDATES) found.pop();
    min = found.at(-1)?.score ?? min;
  }
  return found.flatMap(({ index, likeness }) => {
    const entry = bank.at(index);
    const isOpening = (numbers.previous[index] ?? -1) < 0;
    return entry === undefined ? [] : [{ entry, likeness, isOpening }];
  });
}

/** Mean cosine of two unrelated turns, about: a reply without a turn before it is neither nearer nor further for that. */
const NO_CONTEXT = 0.15;

/** Projects a vector to the rank of the bank, scaled to length 127 and rounded to whole numbers. */
export function projected(projection: Float32Array, vector: Float32Array): Int8Array {
  const rank = projection.length / vector.length;
  const values = new Float64Array(rank);
  let power = 0;
  for (let row = 0; row < rank; row++) {
    let sum = 0;
    for (let i = 0; i < vector.length; i++)
      sum += (projection[row * vector.length + i] ?? 0) * (vector[i] ?? 0);
    values[row] = sum;
    power += sum * sum;
  }
  const scale = power > 0 ? 127 / Math.sqrt(power) : 0;
  return Int8Array.from(values, (value) => Math.round(value * scale));
}

function dot(matrix: Int8Array, start: number, vector: Int8Array): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += (matrix[start + i] ?? 0) * (vector[i] ?? 0);
  return sum;
}
