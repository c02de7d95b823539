/** Whole numbers, at least 1. */
export interface BucketLimits {
  /** Tokens refilled per minute. */
  readonly rpm: number;
  /** Maximum tokens. */
  readonly burst: number;
}

/** Content in parts (60 000 per token) at a whole millisecond. */
export interface BucketState {
  readonly parts: number;
  readonly atMs: number;
}

export interface BucketReading {
  /** Sustained requests per minute. */
  readonly limit: number;
  readonly burst: number;
  /** For a take, whether a token was taken; for a peek, whether one is available. */
  readonly allowed: boolean;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Whole seconds until the bucket is full, rounded up; 0 if it is. */
  readonly resetS: number;
  /** Whole milliseconds until the next token, rounded up; 0 if there is one. */
  readonly retryAfterMs: number;
}

/** Returns the initial state. */
export function fullBucket({ burst }: BucketLimits, nowMs: number): BucketState {
  return { parts: burst * PARTS_A_TOKEN, atMs: Math.floor(nowMs) };
}

/**
 * Returns the state at a later time. A token has 60 000 parts and every millisecond adds `rpm` of them, so the
 * arithmetic is exact. A clock that goes backwards adds and removes nothing.
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

/** Reads the bucket without taking a token. */
export function peek(state: BucketState, limits: BucketLimits, nowMs: number): BucketReading {
  return readingOf(refilled(state, limits, nowMs), limits);
}

export const PARTS_A_TOKEN = 60_000;

/** Returns the reading for a number of parts. */
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
