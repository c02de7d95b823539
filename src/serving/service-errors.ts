import { StoreError } from "../accounts/store.ts";
import { ServiceError } from "../contract/errors.ts";
import { RecogniserError } from "../core/recogniser.ts";
import { ConversationError, NothingToSpeakError, SpeechFailedError } from "../core/speech-model.ts";
import { WriterError } from "../core/writer.ts";

/**
 * The one place where what an engine throws gets its row in the contract's table. What an engine says of itself may
 * name files or quote libraries: it goes to the log, as the cause, and not to the client.
 */
export function mapEngineError(error: unknown, signal: AbortSignal): unknown {
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

/** What a client is told of whatever was thrown; what has no row in the contract's table is a 500 that tells it nothing. */
export function toServiceError(error: unknown, whereTheCauseIs = "its log says what"): ServiceError {
  return (
    knownServiceError(error) ??
    new ServiceError(500, `something went wrong in the server: ${whereTheCauseIs}`, { cause: error })
  );
}

/**
 * The row of the contract's table for what no engine threw: a refusal as it is, and keys and usage that cannot be reached;
 * `null` for what has no row.
 */
export function knownServiceError(error: unknown): ServiceError | null {
  if (error instanceof ServiceError) return error;
  if (!(error instanceof StoreError && error.isTransient)) return null;
  return new ServiceError(502, "keys and usage cannot be reached just now: retry in a moment", {
    retryAfterMs: 2_000,
    cause: error,
  });
}
