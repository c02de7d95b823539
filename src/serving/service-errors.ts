import { StoreError } from "../accounts/store.ts";
import { ServiceError } from "../contract/errors.ts";
import { RecogniserError } from "../core/recogniser.ts";
import { ConversationError, NothingToSpeakError, SpeechFailedError } from "../core/speech-model.ts";
import { WriterError } from "../core/writer.ts";

/**
 * Maps what an engine throws to the contract's table. An engine's own message may name files or quote libraries: it
 * goes to the log, as the cause, and not to the client.
 */
export function mapEngineError(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof ServiceError || (signal.aborted && error === signal.reason)) return error;
  if (error instanceof NothingToSpeakError || error instanceof ConversationError)
    return new ServiceError(400, error.message, { cause: error });
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

/** Returns the error for the client; anything without a row in the contract's table is a plain 500. */
export function toServiceError(error: unknown, whereTheCauseIs = "its log says what"): ServiceError {
  return (
    knownServiceError(error) ??
    new ServiceError(500, `something went wrong in the server: ${whereTheCauseIs}`, { cause: error })
  );
}

/**
 * Returns the row of the contract's table for errors outside of engines: refusals, and unreachable keys and usage;
 * `null` if there is none.
 */
export function knownServiceError(error: unknown): ServiceError | null {
  if (error instanceof ServiceError) return error;
  if (!(error instanceof StoreError && error.isTransient)) return null;
  return new ServiceError(502, "keys and usage cannot be reached just now: retry in a moment", {
    retryAfterMs: 2_000,
    cause: error,
  });
}
