/** No server means to be asked again only after more than a day. */
const MOST_MS = 86_400_000;

/**
 * After how many milliseconds a server wants to be asked again: `retry-after-ms`, else `Retry-After` in seconds or as a
 * date (RFC 9110, 10.2.3). `null` when it does not say, or says nothing that can be read.
 */
export function retryAfterMs(headers: Headers | undefined, nowMs: number): number | null {
  const ms = numberIn(headers?.get("retry-after-ms"));
  if (ms !== null) return Math.min(ms, MOST_MS);
  const value = headers?.get("retry-after");
  if (value === null || value === undefined) return null;
  const waitMs = (numberIn(value) ?? (Date.parse(value) - nowMs) / 1_000) * 1_000;
  return Number.isNaN(waitMs) ? null : Math.min(Math.max(0, waitMs), MOST_MS);
}

function numberIn(value: string | null | undefined): number | null {
  return value != null && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : null;
}
