/**
 * The smallest value that at least `share` of the values do not exceed (nearest rank).
 *
 * @param share 0 to 1: 0.95 for p95.
 * @throws RangeError when there are no values.
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new RangeError("A percentile needs at least one value.");
  return value;
}

/** The middle value, or the mean of the two in the middle. @throws RangeError when there are no values. */
export function median(values: readonly number[]): number {
  return (
    (percentile(values, 0.5) +
      -percentile(
        values.map((value) => -value),
        0.5,
      )) /
    2
  );
}
