import type { Work } from "../../../../src/engines/following/analysis/work.ts";

/** Runs work to its end. */
export function finish<T>(work: Work<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
