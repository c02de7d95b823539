import { mock } from "node:test";

/** The process's steady clock, which can be put forward. */
export interface LaterClock {
  pass(ms: number): void;
  restore(): void;
}

/**
 * Puts itself in the place of `performance.now` until it is restored; timers go on as they do. One that `isStill` goes
 * on only as it is put forward, so that a machine that is busy with something else costs no time.
 */
export function laterClock({ isStill = false } = {}): LaterClock {
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
