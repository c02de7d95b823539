/** A matrix as the product of two narrow ones, kept row by row: what an adapter adds to a matrix. */
export interface LowRank {
  /** `rank` rows of as many numbers as the matrix has columns. */
  readonly a: Float64Array;
  /** As many rows as the matrix has, of `rank` numbers. */
  readonly b: Float64Array;
  readonly rank: number;
  readonly scale: number;
}

/** Adds `scale` B A to the rows of a matrix, one at a time: the row and which it is. */
export function rowAdder({ a, b, rank, scale }: LowRank): (row: Float32Array, index: number) => void {
  const columns = a.length / rank;
  // Four rows are added in one pass; zeros make up for those that there are not.
  const steps = Math.ceil(rank / 4);
  const rows = new Float64Array(4 * steps * columns);
  rows.set(a);
  const weights = new Float64Array(4 * steps);
  const sum = new Float64Array(columns);
  return (row, index) => {
    for (let k = 0; k < rank; k++) weights[k] = scale * b[index * rank + k]!;
    sum.fill(0);
    for (let step = 0; step < steps; step++) addFour(sum, rows, 4 * step * columns, weights, 4 * step);
    for (let i = 0; i < columns; i++) row[i] = row[i]! + sum[i]!;
  };
}

function addFour(
  sum: Float64Array,
  rows: Float64Array,
  at: number,
  weights: Float64Array,
  first: number,
): void {
  const columns = sum.length;
  const [w0, w1, w2, w3] = [weights[first]!, weights[first + 1]!, weights[first + 2]!, weights[first + 3]!];
  const [at1, at2, at3] = [at + columns, at + 2 * columns, at + 3 * columns];
  for (let i = 0; i < columns; i++) {
    sum[i] = sum[i]! + w0 * rows[at + i]! + w1 * rows[at1 + i]! + w2 * rows[at2 + i]! + w3 * rows[at3 + i]!;
  }
}
