import Type, { type Static } from "typebox";
import { nullableString } from "./nullable.ts";

/** One voice. */
export const Voice = Type.Object(
  {
    id: Type.String({
      description: "A value of `voice`: one of a model's own voices, or an own voice's id.",
    }),
    name: Type.String({ description: "A value of `voice`, too." }),
    description: Type.String(),
    aliases: Type.Array(Type.String(), {
      description: "OpenAI's voice names that select this one: all of them are the same voice.",
    }),
    sex: Type.Unsafe<"female" | "male" | null>({
      type: ["string", "null"],
      enum: ["female", "male", null],
      description: "`null`: not known.",
    }),
    accent: nullableString({ description: "What is spoken with it, such as `en-US`; `null`: not known." }),
    models: Type.Array(Type.String(), { description: "The public models that speak with it." }),
    mixes: Type.Array(Type.String(), {
      description: "Those of them that mix it with others of their voices.",
    }),
    owner: Type.Unsafe<"model" | "server" | "key">({
      type: "string",
      enum: ["model", "server", "key"],
      description:
        "Whose it is: the model's own, the server's (the setting `voices`), or that of the key that asks.",
    }),
    sample: Type.Optional(
      Type.String({
        description:
          "The address of a sentence or two in this voice, as an MP3: a `GET` with a key, metered as any speech. Absent: no " +
          "model speaks with it.",
      }),
    ),
    created_at: Type.Optional(Type.Integer({ description: "Of an own voice: Unix time in seconds." })),
    seconds: Type.Optional(Type.Number({ description: "Of an own voice: the length of the recording." })),
    trust: Type.Optional(
      Type.Number({
        description: "Of an own voice: how closely the embedded voice follows it, from 0 to 1.",
      }),
    ),
    cautions: Type.Optional(
      Type.Array(Type.String(), { description: "Of an own voice: why it is not followed more closely." }),
    ),
  },
  { title: "Voice" },
);
export type Voice = Static<typeof Voice>;

/** Reply of `GET /v1/audio/voices`. */
export const VoiceList = Type.Object(
  {
    data: Type.Array(Voice, { description: "Every model's voices, those of the default model first." }),
    voices: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }), {
      description:
        "Every name of a voice that the default model speaks with, in the form that clients with a voice menu expect.",
    }),
  },
  { title: "VoiceList" },
);
export type VoiceList = Static<typeof VoiceList>;

/** The speakers of every public model. */
export const SPEAKER_LABELS = ["0", "1"] as const;

/** OpenAI's names for voices, each of which means one voice of every model. */
export const OPENAI_VOICES = [
  "alloy",
  "coral",
  "marin",
  "nova",
  "sage",
  "shimmer",
  "ash",
  "ballad",
  "cedar",
  "echo",
  "fable",
  "onyx",
  "verse",
] as const;

/** Code units of a whole `voice`, at most. */
export const MAX_VOICE_CHARS = 1_000;

/** What may be said of every field that names a voice. */
export const VOICE_WORDS =
  "A name from `GET /v1/audio/voices`, case-insensitive: a speaker label, a voice of the model, one of OpenAI's " +
  "voice names, or an own voice's id or name. Or a mix of a model's voices, such as `nova(2)+onyx(1)`, where the model mixes.";

/** A `voice` as a field of a request: what names it, or that as the `id` of an object, as OpenAI's clients send it. */
export const NamedVoice = Type.Unsafe<string | { id: string }>({
  type: ["string", "object"],
  properties: { id: { type: "string" } },
  required: ["id"],
  description: `${VOICE_WORDS} Or an object \`{id}\` with one of these.`,
});
export type NamedVoice = Static<typeof NamedVoice>;

/** What names the voice. */
export function voiceWord(voice: NamedVoice): string {
  return typeof voice === "string" ? voice : voice.id;
}
