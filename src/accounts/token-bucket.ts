/** A bucket's terms, both whole and at least 1. */
export interface BucketLimits {
  /** Tokens regained a minute. */
  readonly rpm: number;
  /** Tokens it holds at most. */
  readonly burst: number;
}

/** What is in a bucket, in whole parts of which a token has 60 000, as of a whole millisecond. */
export interface BucketState {
  readonly parts: number;
  readonly atMs: number;
}

/** What a bucket tells its owner. */
export interface BucketReading {
  /** The sustained rate, in requests a minute. */
  readonly limit: number;
  readonly burst: number;
  /** For a take, whether a token was taken; for a look, whether one could be. */
  readonly allowed: boolean;
  /** Whole tokens in the bucket now. */
  readonly remaining: number;
  /** Whole seconds, rounded up, until the bucket is full; 0 when it is. */
  readonly resetS: number;
  /** Whole milliseconds, rounded up, until there is a token; 0 when there is one. */
  readonly retryAfterMs: number;
}

/** A bucket as it is before its first take. */
export function fullBucket({ burst }: BucketLimits, nowMs: number): BucketState {
  return { parts: burst * PARTS_A_TOKEN, atMs: Math.floor(nowMs) };
}

/**
 * The bucket at a later time. A token has 60 000 parts and every whole millisecond adds `rpm` of them, so that the
 * arithmetic is exact. A clock that goes back grants nothing and destroys nothing.
 */
export function refilled(state: BucketState, limits: BucketLimits, nowMs: number): BucketState {
  const atMs = Math.floor(nowMs);
  if (atMs <= state.atMs) return state;
  const missing = limits.burst * PARTS_A_TOKEN - state.parts;
  const elapsedMs = atMs - state.atMs;
  const gained = elapsedMs >= missing / limits.rpm ? missing : elapsedMs * limits.rpm;
  return { parts: state.parts + gained, atMs };
}

/** Takes one token if there is one. A refused take costs nothing. */
export function take(
  state: BucketState,
  limits: BucketLimits,
  nowMs: number,
): { readonly state: BucketState; readonly reading: BucketReading } {
  const now = refilled(state, limits, nowMs);
  const allowed = now.parts >= PARTS_A_TOKEN;
  const after = allowed ? { parts: now.parts - PARTS_A_TOKEN, atMs: now.atMs } : now;
  return { state: after, reading: { ...readingOf(after, limits), allowed } };
}

/** What the bucket tells now, without a take. */
export function peek(state: BucketState, limits: BucketLimits, nowMs: number): BucketReading {
  return readingOf(refilled(state, limits, nowMs), limits);
}

export const PARTS_A_TOKEN = 60_000;

/** What a bucket with so many parts tells, as of a look. */
export function readingOf(
  { parts }: Pick<BucketState, "parts">,
  { rpm, burst }: BucketLimits,
): BucketReading {
  const missing = burst * PARTS_A_TOKEN - parts;
  return {
    limit: rpm,
    burst,
    allowed: parts >= PARTS_A_TOKEN,
    remaining: Math.floor(parts / PARTS_A_TOKEN),
    resetS: Math.ceil(missing / (rpm * 1_000)),
    retryAfterMs: Math.max(0, Math.ceil((PARTS_A_TOKEN - parts) / rpm)),
  };
}
