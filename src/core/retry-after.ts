/** No server means to be asked again only after more than a day. */
const MAX_MS = 86_400_000;

/**
 * After how many milliseconds a server wants to be asked again: `retry-after-ms`, else `Retry-After` in seconds or as a
 * date (RFC 9110, 10.2.3). `null` when it does not say, or says nothing that can be read.
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

/** A date as HTTP writes it, in its three forms, or as ISO 8601 does; `NaN` where there is none. */
function dateIn(value: string): number {
  // Alone, `Date.parse` makes a date of nearly everything, of -5 too.
  return DATE.test(value) ? Date.parse(WITHOUT_ZONE.test(value) ? `${value} GMT` : value) : Number.NaN;
}

const DATE = /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .|\d{4}-\d\d-\d\dT).*\d\d:\d\d/;
/** As C's `asctime` writes it, which is in UTC here: `Sun Nov  6 08:49:37 1994`. */
const WITHOUT_ZONE = /^[A-Z][a-z]{2} [^,]*:\d\d \d{4}$/;

function numberIn(value: string | null | undefined): number | null {
  return value != null && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : null;
}
