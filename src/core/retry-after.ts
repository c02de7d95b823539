/** Longer waits are treated as a day. */
const MAX_MS = 86_400_000;

/**
 * Returns how long a server asks to wait, in milliseconds: `retry-after-ms`, else `Retry-After` in seconds or as a
 * date (RFC 9110, 10.2.3). `null` if absent or unreadable.
 */
export function retryAfterMs(headers: Headers | undefined, nowMs: number): number | null {
  const ms = numberIn(headers?.get("retry-after-ms"));
  if (ms !== null) return Math.min(ms, MAX_MS);
  const value = headers?.get("retry-after");
  if (value === null || value === undefined) return null;
  const seconds = numberIn(value);
  const waitMs = seconds === null ? dateIn(value) - nowMs : seconds * 1_000;
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(0, waitMs), MAX_MS);
}

/** Parses an HTTP date in its three forms, or an ISO 8601 date; `NaN` otherwise. */
function dateIn(value: string): number {
  // `Date.parse` alone accepts nearly anything, even -5.
  return DATE.test(value) ? Date.parse(WITHOUT_ZONE.test(value) ? `${value} GMT` : value) : Number.NaN;
}

const DATE = /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .|\d{4}-\d\d-\d\dT).*\d\d:\d\d/;
/** C's `asctime`, in UTC: `Sun Nov  6 08:49:37 1994`. */
const WITHOUT_ZONE = /^[A-Z][a-z]{2} [^,]*:\d\d \d{4}$/;

function numberIn(value: string | null | undefined): number | null {
  return value != null && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : null;
}
