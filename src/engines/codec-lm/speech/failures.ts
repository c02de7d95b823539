import { ConversationError, SpeechFailedError } from "../../../model/speech-model.ts";
import { CheckpointError, OptionError } from "../fields.ts";
import { BusyError } from "../model.ts";

/** When somebody may ask again who was one too many: another may be at its end by then. */
const RETRY_AFTER_MS = 2_000;

/** What a codec language model throws, as the speech model's seam has it: what the conversation is to blame for, and the rest. */
export function asSpeechError(error: unknown): Error {
  if (error instanceof ConversationError || error instanceof SpeechFailedError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof CheckpointError && !(error instanceof OptionError)) {
    return new ConversationError(message, { cause: error });
  }
  const retry = error instanceof BusyError ? { retryAfterMs: RETRY_AFTER_MS } : {};
  return new SpeechFailedError(message, { cause: error, ...retry });
}
