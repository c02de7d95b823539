/**
 * The value that the given share of the values, 0 to 1, does not exceed; 0 where there are none. No value is NaN.
 */
export function percentile(values: Float32Array | Float64Array | readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** Standard deviation; 0 where there are no values. */
export function standardDeviation(values: ArrayLike<number>): number {
  const all = Float64Array.from(values);
  const mean = all.reduce((sum, value) => sum + value, 0) / Math.max(1, all.length);
  return Math.sqrt(all.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, all.length));
}

/** A value held to a range. */
export function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(max, value));
}
