import { retryAfterS } from "../limits/refusals.ts";
import type { BucketReading } from "../tenancy/tenancy.ts";

/** The names of what {@link rateHeaders} and {@link retryHeaders} make. */
export const RATE_HEADERS = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit-Policy",
  "RateLimit",
] as const;
export const RETRY_HEADERS = ["Retry-After", "retry-after-ms", "x-should-retry"] as const;

/** The rate-limit headers of every response: the contract's three and the IETF draft's pair. */
export function rateHeaders(reading: BucketReading): Record<(typeof RATE_HEADERS)[number], string> {
  const { limit, remaining, resetS } = reading;
  return {
    "X-RateLimit-Limit": `${limit}`,
    "X-RateLimit-Remaining": `${remaining}`,
    "X-RateLimit-Reset": `${resetS}`,
    "RateLimit-Policy": `"requests";q=${limit};w=60`,
    RateLimit: `"requests";r=${remaining};t=${resetS}`,
  };
}

/** What tells a client when to come back: whole seconds for everybody, milliseconds for SDKs. */
export function retryHeaders(retryAfterMs: number): Record<(typeof RETRY_HEADERS)[number], string> {
  return {
    "Retry-After": `${retryAfterS(retryAfterMs)}`,
    "retry-after-ms": `${Math.ceil(retryAfterMs)}`,
    "x-should-retry": "true",
  };
}
