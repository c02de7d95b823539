import Type, { type Static } from "typebox";
import { MAX_INSTRUCTIONS_CHARS, MAX_SPEECH_CHARS, MAX_TEXT_CHARS, MAX_TURNS } from "./limits.ts";
import { GenParams } from "./params.ts";
import { VisemesOption } from "./spoken.ts";
import { nullable, stringEnum } from "./string-enum.ts";
import { NamedVoice, namedVoices } from "./voices.ts";

export type InputType = "text" | "ssml";
export const InputTypeOption = stringEnum(["text", "ssml"], {
  description:
    "Extension: how the text to speak is written. Absent: `ssml` if it begins with `<speak>`, otherwise `text`, in which " +
    "`[pause:0.8s]` is a pause and `[voice:nova]` changes the voice. Marks are not billed. What is not well-formed is refused " +
    "with 400, and what is not followed is " +
    "in `meta.cautions` and, where there is no `meta`, in the header `X-Antiphon-Cautions`.",
});

/** Longest BCP 47 tag or English name. */
const MAX_LANGUAGE_CHARS = 35;

export const LanguageOption = nullable("string", {
  maxLength: MAX_LANGUAGE_CHARS,
  description:
    "Extension: the language to speak, as a tag (`es`, `en-GB`) or an English name. It decides whose voices the speaker labels " +
    "and OpenAI's names are, and which language a recording's voice reads. Absent: that of the voice. `auto`: that of the text, where it is clear. A named voice of another " +
    "language is refused with 400.",
});

/** Maximum entries of a request's lexicon, and maximum lengths of a word and its pronunciation. */
const MAX_LEXICON_WORDS = 100;
export const MAX_LEXICON_WORD_CHARS = 64;
export const MAX_LEXICON_SAID_CHARS = 200;

/** The field `lexicon`, whose keys are arbitrary words. */
export const Lexicon = Type.Unsafe<Record<string, string>>({
  type: "object",
  additionalProperties: { type: "string", minLength: 1, maxLength: MAX_LEXICON_SAID_CHARS },
  propertyNames: { minLength: 1, maxLength: MAX_LEXICON_WORD_CHARS },
  maxProperties: MAX_LEXICON_WORDS,
  description:
    "Extension: pronunciations for this request. Each word (in lower case, it matches any case) is mapped either to " +
    "words that are read instead, or to its phonemes between slashes, in the IPA of American English: " +
    '`{"SQL": "sequel", "kubernetes": "/kˌubɚnˈɛtiz/"}`. In any text, `[word](/phonemes/)` does the same for one occurrence.',
});

const model = nullable("string", {
  default: null,
  description: "Public model id from `GET /v1/models`; null or absent means the default model.",
});

const speaker = Type.String({
  default: "0",
  description: "Role label; one of the chosen model's `speakers`, or in a conversation any name in `voices`.",
});

/** Too long instructions get a 400, not a 422. */
const instructions = Type.String({
  description:
    "Extension: instructions for the writer of an authored turn, such as `You are Ann, at the desk of the Green Fork.` " +
    `At most ${MAX_INSTRUCTIONS_CHARS} characters; not billed. \`meta.writer.instructions\` is \`read\` if they were ` +
    "used, or `ignored` if the writer does not support them or the safety gate answered. They have no effect if the open " +
    "turn has its own text.",
});

/** Bounds a text's length. Markup does not count: with it, four times as much passes here, and is checked once read. */
export const unmarkedLength = (type: string | string[], maxLength: number) => ({
  anyOf: [
    { type, maxLength },
    { type, maxLength: 4 * maxLength, pattern: "^[\\s\\S]*[<\\[][\\s\\S]*$" },
  ],
});

/** Body of `POST /v1/tts`. */
export const TtsRequest = Type.Object(
  {
    text: Type.String({
      minLength: 1,
      ...unmarkedLength("string", MAX_TEXT_CHARS),
      description: `The text to speak: at most ${MAX_TEXT_CHARS} characters without its marks.`,
    }),
    input_type: Type.Optional(InputTypeOption),
    speaker: Type.Optional(speaker),
    voice: Type.Optional(NamedVoice),
    language: Type.Optional(LanguageOption),
    model: Type.Optional(model),
    params: Type.Optional(GenParams),
    lexicon: Type.Optional(Lexicon),
    visemes: Type.Optional(VisemesOption),
  },
  { title: "TtsRequest" },
);

export type TtsRequest = Static<typeof TtsRequest>;

export const ConversationTurn = Type.Object(
  {
    speaker: Type.Optional(speaker),
    text: Type.Optional(
      nullable("string", {
        ...unmarkedLength(["string", "null"], MAX_TEXT_CHARS),
        default: null,
        description: `What was said, or is to be said: at most ${MAX_TEXT_CHARS} characters without its marks.`,
      }),
    ),
    audio_wav_b64: Type.Optional(
      nullable("string", {
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
      namedVoices(
        "Extension: whose voices speakers have, by their labels, each as `voice` in `POST /v1/tts`. A speaker that it " +
          "names may have any label, such as `Anna`. A speaker with one " +
          "speaks with it, whatever audio its turns have; a speaker without follows the audio of its own turns.",
      ),
    ),
    language: Type.Optional(LanguageOption),
    input_type: Type.Optional(InputTypeOption),
    model: Type.Optional(model),
    params: Type.Optional(GenParams),
    lexicon: Type.Optional(Lexicon),
    visemes: Type.Optional(VisemesOption),
    instructions: Type.Optional(instructions),
  },
  { title: "ConverseRequest" },
);

export type ConverseRequest = Static<typeof ConverseRequest>;

const text = Type.String({
  minLength: 1,
  ...unmarkedLength("string", MAX_SPEECH_CHARS),
  description:
    `The text to speak: at most ${MAX_SPEECH_CHARS} characters without its marks. Without any letter or digit, the ` +
    "result is 0.2 s of silence.",
});

/** Body that Vapi sends to a custom voice (`provider` `custom-voice`). Its other fields are ignored. */
export const VoiceRequest = Type.Object(
  {
    message: Type.Object({
      type: stringEnum(["voice-request"]),
      text,
      sampleRate: Type.Integer({ description: "Hz." }),
      voiceId: Type.Optional(
        nullable("string", { description: "Same as `voice` in `POST /v1/audio/speech`." }),
      ),
    }),
  },
  { title: "VoiceRequest" },
);
export type VoiceRequest = Static<typeof VoiceRequest>;

/** Body that jambonz sends to a custom speech vendor. */
export const VendorRequest = Type.Object(
  {
    text,
    type: Type.Optional(
      stringEnum(["text", "ssml"], {
        description:
          "`ssml`: the text is SSML, with `<speak>` around it or without. Otherwise, it is if it begins with `<speak>`.",
      }),
    ),
    voice: Type.Optional(NamedVoice),
    language: Type.Optional(
      Type.String({
        description: "The language to speak, if no voice is named and a voice speaks it; otherwise ignored.",
      }),
    ),
  },
  { title: "VendorRequest" },
);
export type VendorRequest = Static<typeof VendorRequest>;
