/** Positions over which attention is smoothed: the middle one of seven. */
const SMOOTHING = 7;

/**
 * When each token is said, from how much the decoder attends to each position of the clip: each head's attention,
 * normalised over the tokens and smoothed, is averaged over the heads, and dynamic time warping finds the path through
 * it (`timing.py` of OpenAI's `whisper`).
 *
 * @param rows for each token, [heads, positions]: the prompt's too, to normalise over
 * @param first the row that goes with the first token to be placed; the last row goes with what follows the last one
 * @returns where each token from the first on begins, and where the last one ends, in positions: never falling
 */
export function alignTokens(rows: readonly Float32Array[], heads: number, first: number): number[] {
  const positions = rows[0]!.length / heads;
  const count = rows.length - first;
  const mean = Array.from({ length: count }, () => new Float64Array(positions));
  for (let head = 0; head < heads; head++) {
    const own = rows.map((row) => shares(row.subarray(head * positions, (head + 1) * positions)));
    normalise(own);
    for (let at = 0; at < count; at++) addMedians(own[first + at]!, mean[at]!);
  }
  return begins(warp(mean), count);
}

/** What is attended to, as parts of one. */
function shares(row: Float32Array): Float64Array {
  const sum = row.reduce((total, value) => total + value, 0);
  return Float64Array.from(row, (value) => (sum > 0 ? value / sum : 1 / row.length));
}

/** Takes the mean over the tokens off each position, and divides by the standard deviation. */
function normalise(rows: readonly Float64Array[]): void {
  for (let at = 0; at < rows[0]!.length; at++) {
    const mean = rows.reduce((sum, row) => sum + row[at]!, 0) / rows.length;
    const variance = rows.reduce((sum, row) => sum + (row[at]! - mean) ** 2, 0) / rows.length;
    const deviation = Math.sqrt(variance);
    for (const row of rows) row[at] = deviation > 0 ? (row[at]! - mean) / deviation : 0;
  }
}

/** Adds the running median; beyond the ends the row is mirrored. */
function addMedians(row: Float64Array, into: Float64Array): void {
  const half = (SMOOTHING - 1) / 2;
  if (row.length <= half) {
    row.forEach((value, at) => {
      into[at]! += value;
    });
    return;
  }
  const around = new Float64Array(SMOOTHING);
  for (let at = 0; at < row.length; at++) {
    for (let by = -half; by <= half; by++) {
      const index = Math.abs(at + by);
      insert(around, by + half, row[index < row.length ? index : 2 * (row.length - 1) - index]!);
    }
    into[at]! += around[half]!;
  }
}

/** Puts a value where it belongs among the first, which are in order: for so few much faster than to sort them. */
function insert(sorted: Float64Array, count: number, value: number): void {
  let at = count;
  for (; at > 0 && sorted[at - 1]! > value; at--) sorted[at] = sorted[at - 1]!;
  sorted[at] = value;
}

/** The path of the largest sum, from the first token and position to the last: for each token the first position on it. */
function warp(gains: readonly Float64Array[]): (readonly [token: number, position: number])[] {
  const [rows, columns] = [gains.length, gains[0]!.length];
  const width = columns + 1;
  const cost = new Float64Array((rows + 1) * width).fill(Number.POSITIVE_INFINITY);
  const steps = new Uint8Array((rows + 1) * width);
  cost[0] = 0;
  for (let row = 1; row <= rows; row++) {
    for (let column = 1; column <= columns; column++) {
      const at = row * width + column;
      const [both, token, position] = [cost[at - width - 1]!, cost[at - width]!, cost[at - 1]!];
      const isBoth = both < token && both < position;
      const isToken = !isBoth && token < both && token < position;
      steps[at] = isBoth ? BOTH : isToken ? TOKEN : POSITION;
      cost[at] = (isBoth ? both : isToken ? token : position) - gains[row - 1]![column - 1]!;
    }
  }
  const path: (readonly [number, number])[] = [];
  for (let [row, column] = [rows, columns]; row > 0 && column > 0; ) {
    path.push([row - 1, column - 1]);
    const step = steps[row * width + column]!;
    if (step !== POSITION) row--;
    if (step !== TOKEN) column--;
  }
  return path.reverse();
}

const [BOTH, TOKEN, POSITION] = [0, 1, 2] as const;

function begins(path: readonly (readonly [number, number])[], count: number): number[] {
  const found = new Array<number>(count).fill(0);
  let last = -1;
  for (const [token, position] of path) {
    // A token that the path does not touch begins with the next one.
    for (; last < token; last++) found[last + 1] = position;
  }
  return found;
}
