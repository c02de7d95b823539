import { setTimeout as pause } from "node:timers/promises";
import { monotonicMs } from "../monotonic-clock.ts";

export interface Retries {
  /** When it is given up, by the monotonic clock, in milliseconds. */
  readonly untilMs: number;
  /** Whether a failure may have passed when the work is tried again. */
  passes(error: unknown): boolean;
}

/**
 * Tries work until it is done, fails for good, or its time is over; then it rejects with the last failure. The second
 * try follows at once, since the first may only have met a connection that was dead already; the next ones after pauses
 * of growing, random length, so that servers that wait for one database do not come back in step.
 *
 * @param work is told which try it is, from 1, and has to be such that doing it twice does no harm
 */
export async function retried<T>(
  work: (nth: number) => Promise<T>,
  { untilMs, passes }: Retries,
): Promise<T> {
  for (let nth = 1; ; nth++) {
    try {
      return await work(nth);
    } catch (error) {
      const pauseMs = nth === 1 ? 0 : pauseAfter(nth);
      if (!passes(error) || monotonicMs() + pauseMs + LEAST_TRY_MS > untilMs) throw error;
      await pause(pauseMs);
    }
  }
}

/** In less time nothing is done, and the failure would say no more than that. */
const LEAST_TRY_MS = 50;
/** So long after a database has come back it is found, at worst. */
const LONGEST_PAUSE_MS = 250;

function pauseAfter(nth: number): number {
  return Math.min(10 * 2 ** nth, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
}
