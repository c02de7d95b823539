import Type, { type Static } from "typebox";
import { AsksInputType } from "./input-type.ts";
import { Lexicon } from "./lexicon.ts";
import { MAX_INSTRUCTIONS_CHARS, MAX_TEXT_CHARS, MAX_TURNS } from "./limits.ts";
import { nullableString } from "./nullable.ts";
import { GenParams } from "./params.ts";
import { AsksVisemes } from "./spoken.ts";
import { NamedVoice } from "./voices.ts";

const model = nullableString({
  default: null,
  description: "Public model id from `GET /v1/models`; null or absent means the default model.",
});

const speaker = Type.String({
  default: "0",
  description: "Role label; one of the chosen model's `speakers`.",
});

/** An extension. If it is too long, the status is 400. */
const instructions = Type.String({
  description:
    "Extension: instructions for the writer of an authored turn, such as `You are Ann, at the desk of the Green Fork.` " +
    `At most ${MAX_INSTRUCTIONS_CHARS} characters; not billed. \`meta.writer.instructions\` is \`read\` if they were ` +
    "used, or `ignored` if the writer does not support them or the safety gate answered. They have no effect if the open " +
    "turn has its own text.",
});

/** Body of `POST /v1/tts`. */
export const TtsRequest = Type.Object(
  {
    text: Type.String({ minLength: 1, maxLength: MAX_TEXT_CHARS, description: "The text to speak." }),
    input_type: Type.Optional(AsksInputType),
    speaker: Type.Optional(speaker),
    voice: Type.Optional(NamedVoice),
    model: Type.Optional(model),
    params: Type.Optional(GenParams),
    lexicon: Type.Optional(Lexicon),
    visemes: Type.Optional(AsksVisemes),
  },
  { title: "TtsRequest" },
);

export type TtsRequest = Static<typeof TtsRequest>;

/** One turn as a client sends it. */
export const ConversationTurn = Type.Object(
  {
    speaker: Type.Optional(speaker),
    text: Type.Optional(
      nullableString({
        maxLength: MAX_TEXT_CHARS,
        default: null,
        description: "What was said, or is to be said.",
      }),
    ),
    audio_wav_b64: Type.Optional(
      nullableString({
        default: null,
        contentEncoding: "base64",
        description:
          "Base64 of a 16-bit PCM WAV, optionally with a `data:` prefix; at most 25 MiB once decoded.",
      }),
    ),
  },
  { title: "ConversationTurn" },
);

export type ConversationTurn = Static<typeof ConversationTurn>;

/** Body of `POST /v1/converse` and `POST /v1/converse/stream`. */
export const ConverseRequest = Type.Object(
  {
    conversation: Type.Array(ConversationTurn, {
      minItems: 1,
      maxItems: MAX_TURNS,
      description: "Turns, oldest first; the last is the open turn.",
    }),
    voices: Type.Optional(
      Type.Unsafe<Record<string, NamedVoice>>({
        type: "object",
        additionalProperties: NamedVoice,
        description:
          "Extension: whose voices speakers have, by their labels, each as `voice` in `POST /v1/tts`. A speaker with one " +
          "speaks with it, whatever audio its turns have; a speaker without follows the audio of its own turns.",
      }),
    ),
    input_type: Type.Optional(AsksInputType),
    model: Type.Optional(model),
    params: Type.Optional(GenParams),
    lexicon: Type.Optional(Lexicon),
    visemes: Type.Optional(AsksVisemes),
    instructions: Type.Optional(instructions),
  },
  { title: "ConverseRequest" },
);

export type ConverseRequest = Static<typeof ConverseRequest>;
