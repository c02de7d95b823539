import { ServiceError } from "../contract/errors.ts";
import { RecogniserError } from "../model/recogniser.ts";
import { ConversationError, NothingToSpeakError, SpeechFailedError } from "../model/speech-model.ts";
import { WriterError } from "../model/writer.ts";
import { StoreError } from "../tenancy/store-error.ts";

/**
 * The one place where what an engine throws gets its row in the contract's table. What an engine says of itself may
 * name files or quote libraries: it goes to the log, as the cause, and not to the client.
 */
export function asRefusal(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof ServiceError || (signal.aborted && error === signal.reason)) return error;
  if (error instanceof NothingToSpeakError || error instanceof ConversationError) {
    return new ServiceError(400, error.message, { cause: error });
  }
  if (error instanceof SpeechFailedError) {
    const { retryAfterMs } = error;
    return new ServiceError(502, "the speech model failed: retry", {
      retryAfterMs: retryAfterMs ?? 1_000,
      cause: error,
    });
  }
  if (error instanceof RecogniserError && error.refused !== null) {
    return new ServiceError(400, error.message, { cause: error });
  }
  if (error instanceof WriterError || error instanceof RecogniserError) {
    return new ServiceError(502, error.message, { retryAfterMs: error.retryAfterMs ?? 60_000, cause: error });
  }
  return error;
}

/**
 * The row of the contract's table for what no engine threw: a refusal as it is, and keys and usage that cannot be reached;
 * `null` for what has no row.
 */
export function knownRefusal(error: unknown): ServiceError | null {
  if (error instanceof ServiceError) return error;
  if (!(error instanceof StoreError && error.isTransient)) return null;
  return new ServiceError(502, "keys and usage cannot be reached just now: retry in a moment", {
    retryAfterMs: 2_000,
    cause: error,
  });
}

/** Whole seconds, rounded up, at least 1. */
export function retryAfterS(retryAfterMs: number): number {
  return Math.max(1, Math.ceil(retryAfterMs / 1_000));
}

/** What a key, or an address, is told that has asked too often. */
export function overRate({ retryAfterMs }: { readonly retryAfterMs: number }, why: string): ServiceError {
  const waitS = retryAfterS(retryAfterMs);
  return new ServiceError(429, `${why}: retry in ${waitS} second${waitS === 1 ? "" : "s"}`, { retryAfterMs });
}

/** What whoever waits, comes or is still being spoken is told when the server stops. */
export function shuttingDown(): ServiceError {
  return new ServiceError(502, "the server is shutting down: retry in a moment", { retryAfterMs: 2_000 });
}

/** What is told where the server has no room left for anybody. */
export function serverIsFull(what: string): ServiceError {
  return new ServiceError(502, `the server is at its capacity (${what}): retry in a moment`, {
    retryAfterMs: 1_000,
  });
}

/** What is told where others would still have room, but this key has what it may have. */
export function keyIsFull(what: string): ServiceError {
  return new ServiceError(429, `this key has too many requests waiting (${what}): retry in 1 second`, {
    retryAfterMs: 1_000,
  });
}

/** What an utterance is told that nobody has read for long, where others wait for its room. */
export function idleTooLong(): ServiceError {
  return new ServiceError(502, "this reply was not being read while others waited: read it as it arrives", {
    retryAfterMs: 1_000,
  });
}
