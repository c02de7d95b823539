import { ConversationError } from "../../core/speech-model.ts";
import type { ReadSpeech } from "./speech-chunks.ts";

/** Of a name, in a message. */
const SHOWN_CHARS = 60;

/**
 * Reads an answer, in which a refusal is one of the voice that was asked for: nobody here knows whether there is one of that
 * name. Throws a {@link ConversationError} then.
 *
 * @param name what a client called it; `null` where the settings name the voice
 */
export function blamingVoice(name: string | null, read: ReadSpeech): ReadSpeech {
  if (name === null) return read;
  return async function* (exchange) {
    const { status } = await exchange.head();
    if (status === 400 || status === 422) {
      throw new ConversationError(
        `the model's server refused the voice ${JSON.stringify(name.slice(0, SHOWN_CHARS))} (${status}): name one of those that GET /v1/audio/voices lists for the model`,
      );
    }
    return yield* read(exchange);
  };
}
