/** Returns the value that a share of the values (0 to 1, no NaN) does not exceed; 0 without values. */
export function percentile(values: Float32Array | Float64Array | readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** Returns the mean; 0 without values. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at]!;
  return sum / Math.max(1, values.length);
}

/** Returns the standard deviation; 0 without values. */
export function standardDeviation(values: ArrayLike<number>): number {
  const middle = mean(values);
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += (values[at]! - middle) ** 2;
  return Math.sqrt(sum / Math.max(1, values.length));
}

export function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(max, value));
}
