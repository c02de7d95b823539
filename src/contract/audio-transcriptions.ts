import Type, { type Static } from "typebox";
import { ErrorEnvelope, Usage } from "./replies.ts";
import { stringEnum } from "./string-enum.ts";

export const TRANSCRIPT_FORMATS = ["json", "text", "srt", "verbose_json", "vtt"] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

export const GRANULARITIES = ["segment", "word"] as const;
export type Granularity = (typeof GRANULARITIES)[number];

/** Maximum bytes of a recording: 25 MiB, as in OpenAI's API. */
export const MAX_RECORDING_BYTES = 25 * 1024 * 1024;

/** Maximum bytes of a form without its file. */
export const FORM_EXTRA_BYTES = 128 * 1024;

/** Maximum seconds of a recording. */
export const MAX_RECORDING_S = 1_500;

/** Maximum values of each repeatable field. */
export const MAX_VALUES = { languages: 16, keywords: 100, timestamp_granularities: 16 } as const;

/** Maximum code points of a prompt with its keywords. */
export const MAX_PROMPT_CHARS = 8_000;

/** OpenAI's model names that mean the only recogniser, so that a client's own default works. */
const RECOGNISER_NAMES =
  /^(?:whisper-1|gpt-transcribe|gpt-4o-transcribe|gpt-4o-mini-transcribe)(?:-\d{4}-\d{2}-\d{2})?$/;

export function isRecogniserNamed(model: string, name: string | null): boolean {
  return RECOGNISER_NAMES.test(model) || model === name;
}

/** Form of `POST /v1/audio/transcriptions`, as published: the fields of OpenAI's API. */
export const AudioTranscriptionRequest = Type.Object(
  {
    file: Type.Unsafe<Uint8Array>({
      type: "string",
      format: "binary",
      description:
        "The recording, at most 25 MiB and 25 minutes: WAV (also A-law and µ-law), MP3, FLAC, or Opus in Ogg or WebM, at 1 to " +
        "96 kHz, with up to eight channels. The format is detected from the content, not from the file name.",
    }),
    model: Type.Optional(
      Type.String({
        description:
          "`whisper-1`, `gpt-transcribe`, `gpt-4o-transcribe`, `gpt-4o-mini-transcribe`, or the recogniser's own name. " +
          "Absent or empty: the server's only recogniser, which all of these names mean.",
      }),
    ),
    language: Type.Optional(
      Type.String({ description: "ISO 639-1. Absent or empty: detected.", examples: ["en"] }),
    ),
    "languages[]": Type.Optional(
      Type.Array(Type.String(), {
        maxItems: MAX_VALUES.languages,
        description:
          "Instead of `language`. With one value, that is the language; with several, it is detected.",
      }),
    ),
    prompt: Type.Optional(
      Type.String({
        maxLength: MAX_PROMPT_CHARS,
        description: "Words that may occur, or the preceding text; guides the spelling.",
      }),
    ),
    "keywords[]": Type.Optional(
      Type.Array(Type.String(), {
        maxItems: MAX_VALUES.keywords,
        description: "Words that may occur; treated as if appended to `prompt`, separated by commas.",
      }),
    ),
    response_format: Type.Optional(stringEnum(TRANSCRIPT_FORMATS, { default: "json" })),
    "timestamp_granularities[]": Type.Optional(
      Type.Array(stringEnum(GRANULARITIES), {
        maxItems: MAX_VALUES.timestamp_granularities,
        description:
          "What to give timestamps for in `verbose_json`. Absent: segments. `word` requires `verbose_json`.",
      }),
    ),
    temperature: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        default: 0,
        description: "Accepted, but has no effect: the same recording always gives the same transcript.",
      }),
    ),
    stream: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Sends events instead of one response; only for `json` and `text`.",
      }),
    ),
    chunking_strategy: Type.Optional(
      Type.String({
        description: "Accepted, but has no effect: long recordings are always split at pauses.",
      }),
    ),
  },
  { title: "AudioTranscriptionRequest", additionalProperties: false },
);

/** What is billed, also in the fields that OpenAI's clients expect. */
export const DurationUsage = Type.Object({
  type: Type.Literal("duration"),
  seconds: Type.Number({ description: "`input_audio_seconds`." }),
  ...Usage.properties,
});

const languages = Type.Array(Type.Object({ code: Type.String({ description: "ISO 639-1." }) }), {
  description: "The language spoken in the recording, also for translations; empty if it is unknown.",
});

const heardSeconds = Type.Optional(
  Type.Number({ description: "How much of the recording was transcribed, if not all of it." }),
);

/** Reply with `response_format` `json`, also to a translation. */
export const Transcription = Type.Object(
  { text: Type.String(), languages, usage: DurationUsage, heard_seconds: heardSeconds },
  { title: "Transcription" },
);
export type Transcription = Static<typeof Transcription>;

/** A segment of speech. Values that the recogniser does not know are 0. */
export const TranscriptionSegment = Type.Object(
  {
    id: Type.Integer({ description: "Counts from 0." }),
    seek: Type.Integer({ description: "Start in hundredths of a second." }),
    start: Type.Number({ description: "Seconds." }),
    end: Type.Number({ description: "Seconds." }),
    text: Type.String(),
    tokens: Type.Array(Type.Integer(), { description: "Always empty: tokens are not reported." }),
    temperature: Type.Number(),
    avg_logprob: Type.Number(),
    compression_ratio: Type.Number({ description: "Ratio of the text's size to its compressed size." }),
    no_speech_prob: Type.Number(),
  },
  { title: "TranscriptionSegment" },
);
export type TranscriptionSegment = Static<typeof TranscriptionSegment>;

export const TranscriptionWord = Type.Object(
  { word: Type.String(), start: Type.Number(), end: Type.Number() },
  { title: "TranscriptionWord" },
);
export type TranscriptionWord = Static<typeof TranscriptionWord>;

/** Reply with `response_format` `verbose_json`. */
export const VerboseTranscription = Type.Object(
  {
    task: Type.Literal("transcribe"),
    language: Type.String({ description: "The language's English name in lower case, or `unknown`." }),
    languages,
    duration: Type.Number({ description: "Length of the recording in seconds." }),
    text: Type.String(),
    segments: Type.Optional(Type.Array(TranscriptionSegment)),
    words: Type.Optional(Type.Array(TranscriptionWord)),
    usage: DurationUsage,
    heard_seconds: heardSeconds,
  },
  { title: "VerboseTranscription" },
);
export type VerboseTranscription = Static<typeof VerboseTranscription>;

/** Part of a streamed transcript; joined, the parts are its text. */
export const TranscriptTextDelta = Type.Object(
  { type: Type.Literal("transcript.text.delta"), delta: Type.String() },
  { title: "TranscriptTextDelta" },
);
export type TranscriptTextDelta = Static<typeof TranscriptTextDelta>;

/** Last event of a streamed transcript: the full text and what is billed, also in the fields that OpenAI's clients expect. */
export const TranscriptTextDone = Type.Object(
  {
    type: Type.Literal("transcript.text.done"),
    text: Type.String(),
    usage: Type.Object({
      type: Type.Literal("tokens"),
      input_tokens: Type.Integer({ description: "The sum of the details." }),
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

/** Last event of a streamed transcript that failed midway. */
export const TranscriptError = Type.Object(
  { type: Type.Literal("error"), ...ErrorEnvelope.properties },
  { title: "TranscriptError" },
);
export type TranscriptError = Static<typeof TranscriptError>;

const { file, model, response_format, temperature } = AudioTranscriptionRequest.properties;

/** Form of `POST /v1/audio/translations`, as published: the fields of OpenAI's API, and `language`. */
export const AudioTranslationRequest = Type.Object(
  {
    file,
    model,
    prompt: Type.Optional(
      Type.String({
        maxLength: MAX_PROMPT_CHARS,
        description:
          "In English: words that may occur in the translation, or the preceding text; guides the spelling.",
      }),
    ),
    response_format,
    temperature,
    language: Type.Optional(
      Type.String({
        description:
          "A hint about the spoken language: ISO 639-1, optionally with a region, or the English name. If it is absent, " +
          "empty, unknown or English, the language is detected. The translation is always in English.",
        examples: ["de"],
      }),
    ),
  },
  { title: "AudioTranslationRequest", additionalProperties: false },
);

const { words: _, ...fields } = VerboseTranscription.properties;

/** Reply with `response_format` `verbose_json`. */
export const VerboseTranslation = Type.Object(
  {
    ...fields,
    task: Type.Literal("translate"),
    language: Type.Literal("english", {
      description: "The language of the text; `languages` has the one spoken.",
    }),
    segments: Type.Array(TranscriptionSegment),
  },
  { title: "VerboseTranslation" },
);
export type VerboseTranslation = Static<typeof VerboseTranslation>;
