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
          "In English: words that may be in the translation, or what was said before; steers spelling.",
      }),
    ),
    response_format,
    temperature,
    language: Type.Optional(
      Type.String({
        description:
          "A hint at what is spoken: ISO 639-1, perhaps with a region, or the English name. Absent, empty, unknown or " +
          "English: found out. The translation is in English in any case.",
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
    language: Type.Literal("english", { description: "Of the text; `languages` has what is spoken." }),
    segments: Type.Array(TranscriptionSegment),
  },
  { title: "VerboseTranslation" },
);
export type VerboseTranslation = Static<typeof VerboseTranslation>;
