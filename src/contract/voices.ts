import Type, { type Static } from "typebox";
import { fieldError, quoted, type ServiceError } from "./errors.ts";
import { nullable, stringEnum } from "./string-enum.ts";

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
    language: nullable("string", {
      description: "What is spoken with it, as a BCP 47 tag such as `en-US` or `es`; `null`: not known.",
    }),
    accent: nullable("string", { description: "Same as `language`." }),
    models: Type.Array(Type.String(), { description: "The public models that speak with it." }),
    mixes: Type.Array(Type.String(), {
      description: "Those of them that mix it with others of their voices.",
    }),
    owner: stringEnum(["model", "server", "key"], {
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

/** Speaker labels of every public model. */
export const SPEAKER_LABELS = ["0", "1"] as const;

/** OpenAI's voice names, each of which means one voice of every model. */
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

/** Maximum code units of a `voice`. */
export const MAX_VOICE_CHARS = 1_000;

/** Description of every field that names a voice. */
export const VOICE_WORDS =
  "A name from `GET /v1/audio/voices`, case-insensitive: a voice of the model such as `maya`, a speaker label, one " +
  "of OpenAI's voice names, or an own voice's id or name. Or a mix of a model's voices, such as `nova(2)+onyx(1)`, where the model mixes.";

/** A `voice` in a request: a name, or an object with it as `id`, as OpenAI's clients send it. */
export const NamedVoice = Type.Unsafe<string | { id: string }>({
  type: ["string", "object"],
  properties: { id: { type: "string" } },
  required: ["id"],
  description: `${VOICE_WORDS} Or an object \`{id}\` with one of these.`,
});
export type NamedVoice = Static<typeof NamedVoice>;

/** The voices of speakers, by the speakers' names. */
export const namedVoices = (description: string) =>
  Type.Unsafe<Record<string, NamedVoice>>({ type: "object", additionalProperties: NamedVoice, description });

export function voiceName(voice: NamedVoice): string {
  return typeof voice === "string" ? voice : voice.id;
}

/** A voice of a mix, with its share. */
export interface VoiceMixPart {
  /** Trimmed, as written. */
  readonly name: string;
  /** From 0.001 to 1000. */
  readonly weight: number;
}

/** Maximum voices in a mix. */
const MAX_PARTS = 8;
/** Range of weights: a smaller share is inaudible, and could round to none. */
const MIN_WEIGHT = 0.001;
const MAX_WEIGHT = 1_000;

/**
 * Parses a `voice`: a name, or several joined by `+`, each with its weight in brackets unless it is 1. Does not
 * resolve names. Throws a 400 {@link ServiceError} for an invalid mix.
 *
 * @param field name for messages @returns at least one
 */
export function parseVoice(word: string, field: string): readonly VoiceMixPart[] {
  if (word.length > MAX_VOICE_CHARS)
    throw fieldError(field, `has ${word.length} characters, and at most ${MAX_VOICE_CHARS} are allowed`);
  if (!/[+()]/.test(word)) return [{ name: word.trim(), weight: 1 }];
  const parts = word.split("+");
  if (parts.length > MAX_PARTS)
    throw fieldError(field, `mixes ${parts.length} voices, and at most ${MAX_PARTS} can be: name fewer`);
  return parts.map((part) => partOf(part, word, field));
}

const PART = /^([^()]*)(?:\(([^()]*)\))?$/;

function partOf(part: string, word: string, field: string): VoiceMixPart {
  const [isPart, written = "", weight] = PART.exec(part.trim()) ?? [];
  const name = written.trim();
  if (isPart === undefined) throw fieldError(field, `${quoted(word)} cannot be read: ${HOW}`);
  if (name === "") throw fieldError(field, `${quoted(word)} has a part without a name: ${HOW}`);
  return { name, weight: weight === undefined ? 1 : weightOf(weight, field) };
}

function weightOf(written: string, field: string): number {
  const weight = /^\s*(?:\d+\.?\d*|\.\d+)\s*$/.test(written) ? Number(written) : Number.NaN;
  if (weight >= MIN_WEIGHT && weight <= MAX_WEIGHT) return weight;
  throw fieldError(
    field,
    `has the weight ${quoted(written)}: a weight is a number from ${MIN_WEIGHT} to ${MAX_WEIGHT}`,
  );
}

const HOW = "write a mix as in nova(2)+onyx(1)";
