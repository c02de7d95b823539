/** Seconds, to the nearest whole millisecond. */
export function roundedToMs(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}
