import Type, { type Static } from "typebox";
import { Lexicon } from "./lexicon.ts";
import { MAX_INSTRUCTIONS_CHARS, MAX_TEXT_CHARS, MAX_TURNS } from "./limits.ts";
import { nullableString } from "./nullable.ts";
import { GenParams } from "./params.ts";
import { AsksVisemes } from "./spoken.ts";

const model = nullableString({
  default: null,
  description: "Public model id from `GET /v1/models`; null or absent is the default model.",
});

const speaker = Type.String({
  default: "0",
  description: "Role label; one of the chosen model's `speakers`.",
});

/** An extension. That it is over its cap is told with 400. */
const instructions = Type.String({
  description:
    "Extension: what the writer of an authored turn is to keep to, as in `You are Ann, at the desk of the Green Fork.` " +
    `At most ${MAX_INSTRUCTIONS_CHARS} characters; not billed. \`meta.writer.instructions\` says what became of them: ` +
    "`read`, or `ignored` by a writer that takes none and where the safety gate answered. Where the open turn has its " +
    "own text nothing is written, and they do nothing.",
});

/** Body of `POST /v1/tts`. */
export const TtsRequest = Type.Object(
  {
    text: Type.String({ minLength: 1, maxLength: MAX_TEXT_CHARS, description: "The words to speak." }),
    speaker: Type.Optional(speaker),
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
        description: "What was, or is to be, said.",
      }),
    ),
    audio_wav_b64: Type.Optional(
      nullableString({
        default: null,
        description: "Base64 of a 16-bit PCM WAV, a `data:` prefix allowed; 25 MiB decoded at most.",
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
    model: Type.Optional(model),
    params: Type.Optional(GenParams),
    lexicon: Type.Optional(Lexicon),
    visemes: Type.Optional(AsksVisemes),
    instructions: Type.Optional(instructions),
  },
  { title: "ConverseRequest" },
);

export type ConverseRequest = Static<typeof ConverseRequest>;
