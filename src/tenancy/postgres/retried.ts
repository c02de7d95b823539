import { setTimeout as pause } from "node:timers/promises";
import { monotonicMs } from "../monotonic-clock.ts";

export interface Retries {
  /** When it is given up, by the monotonic clock, in milliseconds. */
  readonly untilMs: number;
  /** Whether a failure may have passed when the work is tried again. */
  passes(error: unknown): boolean;
  /** Whether a failure says no more than that there was no answer in time. */
  saysLittle(error: unknown): boolean;
}

/**
 * Tries work until it is done, fails for good, or its time is over; then it rejects with the last failure that says
 * something. The second try follows at once, since the first may only have met a connection that was dead already; the
 * next ones after pauses of growing, random length, so that servers that wait for one database do not come back in step.
 *
 * @param work is told which try it is, from 1, and has to be such that doing it twice does no harm
 */
export async function retried<T>(work: (nth: number) => Promise<T>, limits: Retries): Promise<T> {
  let telling: unknown = null;
  for (let nth = 1; ; nth++) {
    try {
      return await work(nth);
    } catch (error) {
      if (!limits.passes(error)) throw error;
      if (telling === null || !limits.saysLittle(error)) telling = error;
      const pauseMs = nth === 1 ? 0 : pauseAfter(nth);
      if (monotonicMs() + pauseMs >= limits.untilMs) throw telling;
      await pause(pauseMs);
    }
  }
}

/** So long after a database has come back it is found, at worst. */
const MAX_PAUSE_MS = 250;

function pauseAfter(nth: number): number {
  return Math.min(10 * 2 ** nth, MAX_PAUSE_MS) * (0.5 + Math.random() / 2);
}
