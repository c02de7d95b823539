import { mock } from "node:test";

/** The process's monotonic clock, which a test can advance. */
export interface OffsetClock {
  pass(ms: number): void;
  restore(): void;
}

/**
 * Replaces `performance.now` until it is restored; timers are not affected. With `isStill` the clock advances only by
 * `pass`, so that a busy machine costs no time.
 */
export function offsetClock({ isStill = false } = {}): OffsetClock {
  const startMs = performance.now();
  const now = isStill ? () => startMs : performance.now.bind(performance);
  let passedMs = 0;
  const { mock: mocked } = mock.method(performance, "now", () => now() + passedMs);
  return {
    pass(ms) {
      passedMs += ms;
    },
    restore: () => mocked.restore(),
  };
}
