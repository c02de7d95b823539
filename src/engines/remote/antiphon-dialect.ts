import { conversationBody, FRAMES } from "./antiphon-request.ts";
import { readConversation } from "./antiphon-stream.ts";
import type { Dialect } from "./dialect.ts";
import type { RemoteOptions } from "./remote-options.ts";

/** As many code points as a turn may have; and as many as are sure to be spoken within the frames of one request. */
export const MAX_CHARS = 8_000;
const CHARS_IN_MOST_FRAMES = 1_000;

/**
 * Another Antiphon, by its `POST /v1/converse/stream`: it is given the whole conversation with its audio, the knobs, the
 * pronunciations and whether the mouth is told of. A seed has no place there, nor has a speed.
 */
export function antiphonDialect({ model, voices }: RemoteOptions): Dialect {
  const labelOf = (speaker: string): string => voices[speaker] ?? speaker;
  const speakerOf = (label: string): string =>
    Object.keys(voices).find((speaker) => voices[speaker] === label) ?? label;
  return {
    route: "/converse/stream",
    accept: "text/event-stream",
    async prepare(script, signal) {
      const conversation = await conversationBody(script, model, labelOf, signal);
      return {
        maxChars: script.delivery.maxFrames > FRAMES.max ? CHARS_IN_MOST_FRAMES : MAX_CHARS,
        request: (text, maxFrames) => ({
          body: [...conversation.opening, conversation.closing(text, maxFrames)],
          read: readConversation(),
        }),
        finish: () => conversation.finish(),
        voiceOf: (voice) => ({ ...voice, start: speakerOf(voice.start) }),
      };
    },
  };
}
