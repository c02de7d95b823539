import { ServiceError } from "../contract/errors.ts";

/** Whole seconds, rounded up, at least 1. */
export function retryAfterS(retryAfterMs: number): number {
  return Math.max(1, Math.ceil(retryAfterMs / 1_000));
}

/** What a key, or an address, is told that has asked too often. */
export function rateLimitError(
  { retryAfterMs }: { readonly retryAfterMs: number },
  why: string,
): ServiceError {
  const waitS = retryAfterS(retryAfterMs);
  return new ServiceError(429, `${why}: retry in ${waitS} second${waitS === 1 ? "" : "s"}`, { retryAfterMs });
}

/** What whoever waits, comes or is still being spoken is told when the server stops. */
export function shuttingDownError(): ServiceError {
  return new ServiceError(502, "the server is shutting down: retry in a moment", { retryAfterMs: 2_000 });
}

/** What is told where the server has no room left for anybody. */
export function serverFullError(what: string, retryAfterMs = 1_000): ServiceError {
  return new ServiceError(502, `the server is at its capacity (${what}): retry in a moment`, {
    retryAfterMs,
  });
}

/** What is told where others would still have room, but this key has what it may have. */
export function keyFullError(what: string, retryAfterMs = 1_000): ServiceError {
  return rateLimitError({ retryAfterMs }, `this key has too many requests waiting (${what})`);
}

/** What an utterance is told that nobody has read for long, where others wait for its room. */
export function idleTooLongError(): ServiceError {
  return new ServiceError(502, "this reply was not being read while others waited: read it as it arrives", {
    retryAfterMs: 1_000,
  });
}
