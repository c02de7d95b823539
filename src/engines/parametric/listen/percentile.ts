/**
 * The value that the given share of the values, 0 to 1, does not exceed; 0 where there are none. No value is NaN.
 */
export function percentile(values: Float32Array | Float64Array | readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
