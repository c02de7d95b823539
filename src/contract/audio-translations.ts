import Type, { type Static } from "typebox";
import {
  AudioTranscriptionRequest,
  MAX_PROMPT_CHARS,
  TranscriptionSegment,
  VerboseTranscription,
} from "./audio-transcriptions.ts";

const { file, model, response_format, temperature } = AudioTranscriptionRequest.properties;

/** Form of `POST /v1/audio/translations`, as it is published: the fields of OpenAI's API, and `language`. */
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

const { words: _, ...told } = VerboseTranscription.properties;

/** Reply with `response_format` `verbose_json`. */
export const VerboseTranslation = Type.Object(
  {
    ...told,
    task: Type.Literal("translate"),
    language: Type.Literal("english", {
      description: "The language of the text; `languages` has the one spoken.",
    }),
    segments: Type.Array(TranscriptionSegment),
  },
  { title: "VerboseTranslation" },
);
export type VerboseTranslation = Static<typeof VerboseTranslation>;
