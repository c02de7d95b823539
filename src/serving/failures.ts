import { ServiceError } from "../contract/errors.ts";
import { NothingToSpeakError, SpeechFailedError } from "../model/speech-model.ts";
import { WriterError } from "../model/writer.ts";

/** The one place where what an engine throws gets its row in the contract's table. */
export function asRefusal(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof ServiceError || (signal.aborted && error === signal.reason)) return error;
  if (error instanceof NothingToSpeakError) return new ServiceError(400, error.message, { cause: error });
  if (error instanceof SpeechFailedError) {
    return new ServiceError(502, `${error.message}: retry`, { retryAfterMs: 1_000, cause: error });
  }
  if (error instanceof WriterError) {
    return new ServiceError(502, error.message, { retryAfterMs: error.retryAfterMs ?? 60_000, cause: error });
  }
  return error;
}

/** What whoever waits, comes or is still being spoken is told when the server stops. */
export function shuttingDown(): ServiceError {
  return new ServiceError(502, "the server is shutting down: retry in a moment", { retryAfterMs: 2_000 });
}
