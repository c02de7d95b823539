import { ServiceError } from "../contract/errors.ts";

export function retryAfterS(retryAfterMs: number): number {
  return Math.max(1, Math.ceil(retryAfterMs / 1_000));
}

export function rateLimitError(
  { retryAfterMs }: { readonly retryAfterMs: number },
  why: string,
): ServiceError {
  const waitS = retryAfterS(retryAfterMs);
  return new ServiceError(429, `${why}: retry in ${waitS} second${waitS === 1 ? "" : "s"}`, { retryAfterMs });
}

export function shuttingDownError(): ServiceError {
  return new ServiceError(502, "the server is shutting down: retry in a moment", { retryAfterMs: 2_000 });
}

/** Returns the error (502) for a request when the server has no room left for any key. */
export function serverFullError(what: string, retryAfterMs = 1_000): ServiceError {
  return new ServiceError(502, `the server is at its capacity (${what}): retry in a moment`, {
    retryAfterMs,
  });
}

/** Returns the error for a request whose key has its maximum, although there is room for other keys. */
export function keyFullError(what: string, retryAfterMs = 1_000): ServiceError {
  return rateLimitError({ retryAfterMs }, `this key has too many requests waiting (${what})`);
}

/** Returns the error that ends an utterance whose client has not read for long, while others wait. */
export function idleTooLongError(): ServiceError {
  return new ServiceError(502, "this reply was not being read while others waited: read it as it arrives", {
    retryAfterMs: 1_000,
  });
}
