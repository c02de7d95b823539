/** Standard deviation; 0 where there are no values. */
export function deviation(values: ArrayLike<number>): number {
  const all = Float64Array.from(values);
  const mean = all.reduce((sum, value) => sum + value, 0) / Math.max(1, all.length);
  return Math.sqrt(all.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, all.length));
}
