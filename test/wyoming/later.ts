import { mock } from "node:test";

/** The process's steady clock, which can be put forward. */
export interface LaterClock {
  pass(ms: number): void;
  restore(): void;
}

/** Puts itself in the place of `performance.now` until it is restored; timers go on as they do. */
export function laterClock(): LaterClock {
  const now = performance.now.bind(performance);
  let passedMs = 0;
  const { mock: mocked } = mock.method(performance, "now", () => now() + passedMs);
  return {
    pass(ms) {
      passedMs += ms;
    },
    restore: () => mocked.restore(),
  };
}
