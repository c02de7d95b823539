import type { Bank, BankEntry, ReplyNumbers } from "./reply-book.ts";

/** A reply of another conversation. */
export interface FoundReply {
  readonly entry: BankEntry;
  /** Cosine of the turn that it answered and the newest one. */
  readonly likeness: number;
  /** Whether nothing was said before the turn that it answered. */
  readonly isOpening: boolean;
}

/** How much the turn before the newest counts beside it. */
const PREVIOUS_WEIGHT = 0.4;
/** Entries that are looked at closer. */
const CANDIDATES = 32;

/**
 * The replies whose own turns are nearest to the newest one, what was said before it counted too; the best first, of
 * equals the one that stands first. Likeness is that of the newest turn alone.
 *
 * @param newest of the encoder's width and length 1, as is `previous`; `null` where nothing was said before
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
    // What has no turn before it is neither nearer nor further for that.
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

/** Mean likeness of two turns that have nothing to do with each other, about. */
const NO_CONTEXT = 0.15;

/** A vector as the bank has them: of fewer numbers, its length 127, each rounded to a whole number. */
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
