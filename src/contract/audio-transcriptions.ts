import Type, { type Static } from "typebox";
import { ErrorEnvelope, Usage } from "./replies.ts";

/** What a transcript may be asked for as. */
export const TRANSCRIPT_FORMATS = ["json", "text", "srt", "verbose_json", "vtt"] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

/** How finely times may be asked for. */
export const GRANULARITIES = ["segment", "word"] as const;
export type Granularity = (typeof GRANULARITIES)[number];

/** Bytes of one recording, at most: 25 MiB, as a turn's audio and OpenAI's API have it. */
export const MAX_RECORDING_BYTES = 25 * 1024 * 1024;

/** Bytes that a form may have beside its file. */
export const FORM_EXTRA_BYTES = 128 * 1024;

/** Seconds of one recording, at most. */
export const MAX_RECORDING_S = 1_500;

/** Values of a field that may be there several times, at most. */
export const MAX_VALUES = { languages: 16, keywords: 100, timestamp_granularities: 16 } as const;

/** Code points of a prompt, with its keywords, at most. */
export const MAX_PROMPT_CHARS = 8_000;

/** Names of OpenAI's models that stand for the recogniser there is, so that a client's own default works. */
const RECOGNISER_NAMES =
  /^(?:whisper-1|gpt-transcribe|gpt-4o-transcribe|gpt-4o-mini-transcribe)(?:-\d{4}-\d{2}-\d{2})?$/;

/** Whether a `model` field means the recogniser of that name. */
export function isRecogniserNamed(model: string, name: string | null): boolean {
  return RECOGNISER_NAMES.test(model) || model === name;
}

const choice = <T extends string>(values: readonly T[], keywords: object) =>
  Type.Unsafe<T>({ type: "string", enum: [...values], ...keywords });

/** Form of `POST /v1/audio/transcriptions`, as it is published: the fields of OpenAI's API. */
export const AudioTranscriptionRequest = Type.Object(
  {
    file: Type.Unsafe<Uint8Array>({
      type: "string",
      format: "binary",
      description:
        "The recording, at most 25 MiB and 25 minutes: WAV (also A-law and µ-law), MP3, FLAC, or Opus in Ogg or WebM, at 1 to " +
        "96 kHz, with up to eight channels. Its content tells which, not its name.",
    }),
    model: Type.Optional(
      Type.String({
        description:
          "`whisper-1`, `gpt-transcribe`, `gpt-4o-transcribe`, `gpt-4o-mini-transcribe`, or the recogniser's own name. " +
          "Absent or empty: the one there is, as all of them mean.",
      }),
    ),
    language: Type.Optional(
      Type.String({ description: "ISO 639-1. Absent or empty: found out.", examples: ["en"] }),
    ),
    "languages[]": Type.Optional(
      Type.Array(Type.String(), {
        maxItems: MAX_VALUES.languages,
        description: "In place of `language`: one is that, and where there are more it is found out.",
      }),
    ),
    prompt: Type.Optional(
      Type.String({
        maxLength: MAX_PROMPT_CHARS,
        description: "Words that may be said, or what was said before; steers spelling.",
      }),
    ),
    "keywords[]": Type.Optional(
      Type.Array(Type.String(), {
        maxItems: MAX_VALUES.keywords,
        description: "Words that may be said: as if they stood at the end of `prompt`, with commas between.",
      }),
    ),
    response_format: Type.Optional(choice(TRANSCRIPT_FORMATS, { default: "json" })),
    "timestamp_granularities[]": Type.Optional(
      Type.Array(choice(GRANULARITIES, {}), {
        maxItems: MAX_VALUES.timestamp_granularities,
        description: "Times of what, in `verbose_json`. Absent: of segments. `word` needs `verbose_json`.",
      }),
    ),
    temperature: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        default: 0,
        description: "Taken, and changes nothing: the same recording always gives the same transcript.",
      }),
    ),
    stream: Type.Optional(
      Type.Boolean({ default: false, description: "Events instead of one answer, for `json` and `text`." }),
    ),
    chunking_strategy: Type.Optional(
      Type.String({ description: "Taken, and changes nothing: long recordings are always cut at pauses." }),
    ),
  },
  { title: "AudioTranscriptionRequest", additionalProperties: false },
);

/** What is billed, and the same in the words of OpenAI's clients. */
export const DurationUsage = Type.Object({
  type: Type.Literal("duration"),
  seconds: Type.Number({ description: "`input_audio_seconds`." }),
  ...Usage.properties,
});

/** What is known of the language. */
const languages = Type.Array(Type.Object({ code: Type.String({ description: "ISO 639-1." }) }), {
  description: "The recording's language, that of a translation's too; empty where it is not known.",
});

const heardSeconds = Type.Optional(
  Type.Number({ description: "How much was listened to, where that is less than all of it." }),
);

/** Reply with `response_format` `json`, also to a translation. */
export const Transcription = Type.Object(
  { text: Type.String(), languages, usage: DurationUsage, heard_seconds: heardSeconds },
  { title: "Transcription" },
);
export type Transcription = Static<typeof Transcription>;

/** A stretch of speech. What is `null` or unknown to the recogniser is 0. */
export const TranscriptionSegment = Type.Object(
  {
    id: Type.Integer({ description: "Counts from 0." }),
    seek: Type.Integer({ description: "Where it begins, in hundredths of a second." }),
    start: Type.Number({ description: "Seconds." }),
    end: Type.Number({ description: "Seconds." }),
    text: Type.String(),
    tokens: Type.Array(Type.Integer(), { description: "Empty: they are not told." }),
    temperature: Type.Number(),
    avg_logprob: Type.Number(),
    compression_ratio: Type.Number({ description: "How much shorter the text is when compressed." }),
    no_speech_prob: Type.Number(),
  },
  { title: "TranscriptionSegment" },
);
export type TranscriptionSegment = Static<typeof TranscriptionSegment>;

/** A word and when it is said. */
export const TranscriptionWord = Type.Object(
  { word: Type.String(), start: Type.Number(), end: Type.Number() },
  { title: "TranscriptionWord" },
);
export type TranscriptionWord = Static<typeof TranscriptionWord>;

/** Reply with `response_format` `verbose_json`. */
export const VerboseTranscription = Type.Object(
  {
    task: Type.Literal("transcribe"),
    language: Type.String({ description: "Its English name in lower case, or `unknown`." }),
    languages,
    duration: Type.Number({ description: "Seconds of the recording." }),
    text: Type.String(),
    segments: Type.Optional(Type.Array(TranscriptionSegment)),
    words: Type.Optional(Type.Array(TranscriptionWord)),
    usage: DurationUsage,
    heard_seconds: heardSeconds,
  },
  { title: "VerboseTranscription" },
);
export type VerboseTranscription = Static<typeof VerboseTranscription>;

/** A piece of a streamed transcript; the pieces joined are its text. */
export const TranscriptTextDelta = Type.Object(
  { type: Type.Literal("transcript.text.delta"), delta: Type.String() },
  { title: "TranscriptTextDelta" },
);
export type TranscriptTextDelta = Static<typeof TranscriptTextDelta>;

/** Last event of a streamed transcript: all of its text, what is billed, and the same as OpenAI's clients expect it. */
export const TranscriptTextDone = Type.Object(
  {
    type: Type.Literal("transcript.text.done"),
    text: Type.String(),
    usage: Type.Object({
      type: Type.Literal("tokens"),
      input_tokens: Type.Integer({ description: "Their sum." }),
      input_token_details: Type.Object({
        audio_tokens: Type.Integer({ description: "Frames of 80 ms." }),
        text_tokens: Type.Integer({ description: "`input_chars`." }),
      }),
      output_tokens: Type.Integer({ description: "Characters of the text." }),
      total_tokens: Type.Integer(),
      ...Usage.properties,
    }),
    heard_seconds: heardSeconds,
  },
  { title: "TranscriptTextDone" },
);
export type TranscriptTextDone = Static<typeof TranscriptTextDone>;

/** Last event of a streamed transcript that failed once its status was sent. */
export const TranscriptError = Type.Object(
  { type: Type.Literal("error"), ...ErrorEnvelope.properties },
  { title: "TranscriptError" },
);
export type TranscriptError = Static<typeof TranscriptError>;
