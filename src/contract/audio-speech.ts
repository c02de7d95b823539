import Type, { type Static } from "typebox";
import { fieldError, quoted } from "./errors.ts";
import { MAX_SCRIPT_CHARS, MAX_SPEECH_CHARS } from "./limits.ts";
import { ErrorEnvelope, Usage } from "./replies.ts";
import { InputTypeOption, LanguageOption, Lexicon } from "./requests.ts";
import { marks, VisemesOption } from "./spoken.ts";
import { stringEnum } from "./string-enum.ts";
import { NamedVoice } from "./voices.ts";

/** Names of OpenAI's and ElevenLabs' models that mean the default model, so that a client's own default works. */
const DEFAULT_MODEL_NAMES =
  /^(?:eleven_\w+|(?:tts-1|tts-1-hd|gpt-4o-mini-tts)(?:-\d{4}-\d{2}-\d{2}|-\d{4})?)$/;

/** Speeds at which the voice stays intelligible; OpenAI's range is 0.25 to 4. */
export const SPEEDS = { minimum: 0.5, maximum: 2 } as const;

/** Body of `POST /v1/audio/speech`: the fields of OpenAI's API. `null` means absent, except in `input`. */
export const AudioSpeechRequest = Type.Object(
  {
    model: Type.Optional(
      Type.String({
        description:
          "A public model id. `tts-1`, `tts-1-hd`, `gpt-4o-mini-tts` and `eleven_…`, or no value, mean the default model.",
      }),
    ),
    input: Type.String({
      minLength: 1,
      // With its marks; without, it is checked once they are read.
      maxLength: 4 * MAX_SCRIPT_CHARS,
      description:
        `The text to speak: at most ${MAX_SCRIPT_CHARS} characters without its marks, or ${MAX_SPEECH_CHARS} for a whole ` +
        "`wav` or `flac`. Without any letter or digit, the result is 0.2 s of silence.",
    }),
    voice: Type.Optional(NamedVoice),
    language: Type.Optional(LanguageOption),
    response_format: Type.Optional(
      Type.String({
        default: "mp3",
        description:
          "`mp3` (128 kb/s), `opus` (64 kb/s, in Ogg), `flac` or `wav` (both lossless), `pcm` (24 kHz, mono, 16-bit " +
          "little-endian samples), `mulaw` or `alaw` (8 kHz, mono, one byte per sample). Others, including `aac`, are " +
          "refused with 400.",
      }),
    ),
    speed: Type.Optional(
      Type.Number({
        minimum: 0.25,
        maximum: 4,
        default: 1,
        description:
          `Values below ${SPEEDS.minimum} or above ${SPEEDS.maximum} are limited to these, and the header ` +
          "`X-Antiphon-Speed` states the speed used.",
      }),
    ),
    stream_format: Type.Optional(
      stringEnum(["audio", "sse"], {
        description:
          "`sse`: streamed events. `audio`: streamed bytes; the headers of `wav` and `flac` then do not state a length. " +
          "Absent: like `audio`, except that `wav` and `flac` are sent as one complete file of at most 11 minutes; if " +
          "that cuts the input short, the header `X-Antiphon-Stop: length` says so. If this field is present, speech is " +
          "sent at most `limits.max_ahead_seconds` (see `GET /v1/info`) ahead of real-time playback; if absent, or with " +
          "the header `X-Antiphon-Pace: own`, as fast as the client reads it.",
      }),
    ),
    loudness: Type.Optional(
      Type.Number({
        minimum: -30,
        maximum: -10,
        description:
          "Extension: integrated loudness in LUFS (EBU R 128), such as -16, with a true peak of at most -1 dBTP. The " +
          "reply is made as it is sent, so it comes near: see docs/formats.md. Absent: the voice's own, some -26.",
      }),
    ),
    input_type: Type.Optional(InputTypeOption),
    lexicon: Type.Optional(Lexicon),
    visemes: Type.Optional(VisemesOption),
    instructions: Type.Optional(
      Type.String({
        maxLength: MAX_SPEECH_CHARS,
        description:
          "How to speak, in English: slower, faster, quieter, louder, higher, lower, livelier, flatter, cheerful, sad, " +
          "friendly, excited, calm, serious, gentle or angry, and more or less of it, as in `slightly sad, much slower`. " +
          "The header `X-Antiphon-Manner` states what is done and what is not. Remote models with OpenAI's " +
          "API are given the text as it is; other models that cannot do this speak as usual.",
      }),
    ),
  },
  { title: "AudioSpeechRequest" },
);
export type AudioSpeechRequest = Static<typeof AudioSpeechRequest>;

/** Part of a reply with `stream_format` `sse`; joined, the parts are the requested file. */
export const SpeechAudioDelta = Type.Object(
  {
    type: Type.Literal("speech.audio.delta"),
    audio: Type.String({ description: "Base64.", contentEncoding: "base64" }),
    ...marks,
  },
  { title: "SpeechAudioDelta" },
);
export type SpeechAudioDelta = Static<typeof SpeechAudioDelta>;

/** Last event of such a reply: what is billed, also in the fields that OpenAI's clients expect. */
export const SpeechAudioDone = Type.Object(
  {
    type: Type.Literal("speech.audio.done"),
    stop: stringEnum(["finished", "length"], {
      description: "`length`: the maximum length was reached before the end of the input.",
    }),
    usage: Type.Object({
      ...Usage.properties,
      input_tokens: Type.Integer({ description: "`input_chars`." }),
      output_tokens: Type.Integer({ description: "Frames of 80 ms." }),
      total_tokens: Type.Integer(),
    }),
    ...marks,
  },
  { title: "SpeechAudioDone" },
);
export type SpeechAudioDone = Static<typeof SpeechAudioDone>;

/** Last event of such a reply that failed midway. */
export const SpeechAudioError = Type.Object(
  { type: Type.Literal("error"), ...ErrorEnvelope.properties },
  { title: "SpeechAudioError" },
);
export type SpeechAudioError = Static<typeof SpeechAudioError>;

/** Returns the public id that a `model` field means; `null` is the default model. */
export function resolveModelName(model: string | undefined): string | null {
  return model === undefined || DEFAULT_MODEL_NAMES.test(model) ? null : model;
}

/** Limits a requested speed to the supported range. */
export function clampSpeed(speed: number): number {
  return Math.min(SPEEDS.maximum, Math.max(SPEEDS.minimum, speed));
}

export const SPEECH_FORMATS = ["mp3", "opus", "flac", "wav", "pcm", "mulaw", "alaw"] as const;
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

/** Formats whose header states their length. */
export const FORMATS_WITH_LENGTH: ReadonlySet<SpeechFormat> = new Set(["wav", "flac"]);

/** Whether a reply is sent in one piece: if its header states its length and no stream is requested. */
export function isSentWhole(
  format: SpeechFormat,
  streamFormat: AudioSpeechRequest["stream_format"],
): boolean {
  return streamFormat === undefined && FORMATS_WITH_LENGTH.has(format);
}

/** Returns the format of a request. Throws a 400 {@link ServiceError} for an unsupported one. */
export function resolveFormat({
  response_format: asked = "mp3",
}: Pick<AudioSpeechRequest, "response_format">): SpeechFormat {
  const format = SPEECH_FORMATS.find((each) => each === asked);
  if (format !== undefined) return format;
  throw fieldError(
    "response_format",
    `${quoted(asked)} is not made here: ask for one of ${SPEECH_FORMATS.join(", ")}`,
  );
}
