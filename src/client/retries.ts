import type { AntiphonError } from "./antiphon-error.ts";

/** A server that wants to be left alone for longer than this is not asked again: the caller is told instead. */
const MAX_WAIT_MS = 60_000;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;

/** How long to wait before another attempt, in milliseconds; null where none would help. `attempt` counts from 0. */
export function retryWaitMs({ type, status, retryAfterMs }: AntiphonError, attempt: number): number | null {
  const isPassing =
    type === "connection_error" || (status !== null && ([408, 409, 429].includes(status) || status >= 500));
  if (!isPassing) return null;
  if (retryAfterMs !== null) return retryAfterMs <= MAX_WAIT_MS ? retryAfterMs : null;
  // Spread out, so that clients that failed together do not come back together.
  return Math.min(FIRST_PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS) * (1 - Math.random() / 4);
}

/** What the headers of a failure say of when to come back, in milliseconds; null where they say nothing. */
export function retryAfterMs(headers: Headers, nowMs: number = Date.now()): number | null {
  const inMs = headers.get("retry-after-ms");
  const told = headers.get("retry-after") || "-";
  const waitMs = inMs ? +inMs : /\D/.test(told) ? Date.parse(told) - nowMs : 1_000 * +told;
  return waitMs >= 0 ? waitMs : null;
}
