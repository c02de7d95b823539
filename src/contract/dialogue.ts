import Type, { type Static } from "typebox";
import { AudioSpeechRequest } from "./audio-speech.ts";
import { MAX_DIALOGUE_LINES, MAX_SCRIPT_CHARS, MAX_SPEECH_CHARS } from "./limits.ts";
import { GenParams } from "./params.ts";
import { LanguageOption, Lexicon, unmarkedLength } from "./requests.ts";
import { VisemesOption } from "./spoken.ts";
import { nullable } from "./string-enum.ts";
import { MAX_VOICE_CHARS, namedVoices } from "./voices.ts";

const { model, response_format, stream_format, speed, loudness, instructions } =
  AudioSpeechRequest.properties;

const DialogueLineRequest = Type.Object(
  {
    voice: Type.String({
      minLength: 1,
      maxLength: MAX_VOICE_CHARS,
      description: "Who speaks: a voice as in `POST /v1/audio/speech`, or a name in `voices`.",
    }),
    text: Type.String({
      minLength: 1,
      ...unmarkedLength("string", MAX_SPEECH_CHARS),
      description: `What is said: at most ${MAX_SPEECH_CHARS} characters without its marks.`,
    }),
    instructions: Type.Optional(instructions),
  },
  { title: "DialogueLine" },
);

/** Body of `POST /v1/audio/dialogue`. `null` means absent. */
export const DialogueRequest = Type.Object(
  {
    script: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_SCRIPT_CHARS,
        description:
          "The dialogue as text. `Anna: Hello.` begins a line of Anna's; lines without a name continue it. `# Heading` or " +
          "`---` begins a scene, and a line in brackets is a stage direction: neither is spoken. `Anna (sadly): …` gives " +
          `the line instructions. At most ${MAX_DIALOGUE_LINES} lines of ${MAX_SPEECH_CHARS} characters.`,
      }),
    ),
    lines: Type.Optional(
      Type.Array(DialogueLineRequest, {
        minItems: 1,
        maxItems: MAX_DIALOGUE_LINES,
        description: "The dialogue line by line, instead of `script`.",
      }),
    ),
    voices: Type.Optional(
      namedVoices(
        "Voices of speakers, by their names; case does not matter. A speaker who is not listed and has no voice's name gets " +
          "one that no other speaker has.",
      ),
    ),
    language: Type.Optional(LanguageOption),
    gap: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 10,
        description:
          "Seconds between two speakers. Absent: 0.1 to 1.2, by what is said: less after a dash, more before a new scene.",
      }),
    ),
    model: Type.Optional(model),
    response_format: Type.Optional(response_format),
    stream_format: Type.Optional(stream_format),
    speed: Type.Optional(speed),
    loudness: Type.Optional(loudness),
    params: Type.Optional(GenParams),
    lexicon: Type.Optional(Lexicon),
    visemes: Type.Optional(VisemesOption),
  },
  { title: "DialogueRequest" },
);
export type DialogueRequest = Static<typeof DialogueRequest>;

/** First event of a dialogue with `stream_format` `sse`. */
export const DialogueStarted = Type.Object(
  {
    type: Type.Literal("dialogue.started"),
    speakers: Type.Array(
      Type.Object({
        name: Type.String(),
        voice: Type.String({ description: "The voice that speaks for it." }),
        is_chosen: Type.Boolean({ description: "Whether the request chose the voice." }),
      }),
    ),
    lines: Type.Array(
      Type.Object({
        speaker: Type.String(),
        offset: Type.Integer({
          description:
            "Position of the words in the script, or in the texts of `lines` joined by line breaks, in code points.",
        }),
        length: Type.Integer({ description: "Length in code points." }),
        scene: nullable("string", {
          description:
            "The heading of the scene that the line begins, which may be empty; `null` within a scene.",
        }),
      }),
    ),
  },
  { title: "DialogueStarted" },
);
export type DialogueStarted = Static<typeof DialogueStarted>;
