/** The machine's monotonic time in milliseconds, the same in every thread. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
