import Type, { type Static } from "typebox";
import { SPEEDS } from "../audio-speech.ts";
import { MAX_TEXT_CHARS } from "../limits.ts";
import { stringEnum } from "../string-enum.ts";

const flag = Type.Optional(Type.Boolean());
const option = (description: string) => Type.Optional(stringEnum(["true", "false"], { description }));

const FORMATS = [
  ...["mp3_22050_32", "mp3_24000_48", "mp3_44100_32", "mp3_44100_64", "mp3_44100_96", "mp3_44100_128"],
  ...["mp3_44100_192", "opus_48000_32", "opus_48000_64", "opus_48000_96", "opus_48000_128", "opus_48000_192"],
  ...["pcm_8000", "pcm_16000", "pcm_22050", "pcm_24000", "pcm_32000", "pcm_44100", "pcm_48000"],
  ...["ulaw_8000", "alaw_8000"],
];

/** Query of ElevenLabs' `stream-input` and `multi-stream-input`, as far as it is read. */
export const StreamInputQuery = Type.Object({
  model_id: Type.Optional(
    Type.String({
      description: "A public model id; those that begin with `eleven_` are the default model.",
    }),
  ),
  output_format: Type.Optional(
    stringEnum(FORMATS, {
      description: "By default `mp3_44100_128`. Any MP3 is 24 kHz and 128 kb/s, any Opus is 64 kb/s in Ogg.",
    }),
  ),
  language_code: Type.Optional(Type.String({ description: "A tag such as `es`." })),
  inactivity_timeout: Type.Optional(
    Type.String({
      pattern: "^([1-9]|[1-9]\\d|1[0-7]\\d|180)$",
      description: "Seconds without a message, from 1 to 180, after which it is closed. By default 20.",
    }),
  ),
  auto_mode: option("Whether every text is a whole sentence or phrase, to be spoken at once."),
  sync_alignment: option("In `multi-stream-input`: whether times count from the start of a context."),
  apply_text_normalization: Type.Optional(stringEnum(["auto", "on"], { description: "It is always on." })),
});
export type StreamInputQuery = Static<typeof StreamInputQuery>;

/** Message of a client, as far as it is read. */
export const StreamInputMessage = Type.Object({
  text: Type.Optional(Type.String({ maxLength: MAX_TEXT_CHARS })),
  context_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  flush: flag,
  close_context: flag,
  close_socket: flag,
  xi_api_key: Type.Optional(Type.String({ maxLength: 256 })),
  voice_settings: Type.Optional(Type.Object({ speed: Type.Optional(Type.Number(SPEEDS)) })),
  // No dictionary of another service can be followed.
  pronunciation_dictionary_locators: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 0 })),
});
export type StreamInputMessage = Static<typeof StreamInputMessage>;
