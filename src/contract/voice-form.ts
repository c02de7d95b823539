import Type, { type Static } from "typebox";
import { fieldError, quoted, type ServiceError } from "./errors.ts";
import { IgnoredFields } from "./json/read-json.ts";
import { countChars } from "./limits.ts";
import { nullable, stringEnum } from "./string-enum.ts";
import type { FormField } from "./transcription-form.ts";

/** Maximum bytes of a recording of a voice: 25 MiB, of which half a minute is kept. */
export const MAX_SAMPLE_BYTES = 25 * 1024 * 1024;
/** Minimum seconds of a recording, and the seconds that are kept. */
export const SAMPLE_S = { min: 1, max: 30 } as const;

/** Maximum code points of each field. */
const MAX_CHARS = { name: 64, consent: 2_000, ref_text: 2_000, description: 500 } as const;

/** Form of `POST /v1/audio/voices`, as published: the fields of OpenAI's API, vLLM-Omni and SGLang-Omni. */
export const NewVoiceForm = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: MAX_CHARS.name,
      description:
        "What it is called, unique among the voices of the key: no name of a model's voice, none of `/ \\ + ( )`, and not " +
        "beginning with `voice_`.",
    }),
    audio_sample: Type.Unsafe<Uint8Array>({
      type: "string",
      format: "binary",
      description:
        "A recording of one person speaking, best 5 to 12 s, in any format that `POST /v1/audio/transcriptions` takes. At most " +
        `25 MiB; the first ${SAMPLE_S.max} s are kept.`,
    }),
    consent: Type.String({
      minLength: 1,
      maxLength: MAX_CHARS.consent,
      description:
        "A statement that the speaker agrees, or what it is filed under. It is kept with the voice.",
    }),
    ref_text: Type.Optional(
      Type.String({
        maxLength: MAX_CHARS.ref_text,
        description:
          "All that is said in the recording. Absent: it is transcribed, if there is a recogniser.",
      }),
    ),
    description: Type.Optional(Type.String({ maxLength: MAX_CHARS.description })),
  },
  { title: "NewVoiceForm" },
);

/** Reply of `POST /v1/audio/voices`. */
export const CreatedVoice = Type.Object(
  {
    id: Type.String({ description: "`voice_…`: a value of `voice`." }),
    object: stringEnum(["audio.voice"]),
    type: stringEnum(["audio_sample"]),
    name: Type.String(),
    description: Type.String(),
    created_at: Type.Integer({ description: "Unix time in seconds." }),
    consent: Type.String(),
    ref_text: nullable("string", { description: "What is said in the recording; `null`: not known." }),
    seconds: Type.Number({ description: "Of the recording, as far as it is kept." }),
    trust: Type.Number({ description: "How closely the embedded voice follows it, from 0 to 1." }),
    cautions: Type.Array(Type.String(), {
      description:
        "Why it is not followed more closely: `short`, `noise`, `clipping`, `not one voice`, `unlike speech`, `narrow band`; " +
        "`long`: only its beginning is kept.",
    }),
  },
  { title: "CreatedVoice" },
);
export type CreatedVoice = Static<typeof CreatedVoice>;

/** Reply of `DELETE /v1/audio/voices/{voice}`. */
export const DeletedVoice = Type.Object(
  {
    id: Type.String(),
    object: stringEnum(["audio.voice.deleted"]),
    name: Type.String(),
    deleted: Type.Unsafe<true>({ type: "boolean", enum: [true] }),
  },
  { title: "DeletedVoice" },
);
export type DeletedVoice = Static<typeof DeletedVoice>;

export interface NewVoice {
  readonly name: string;
  readonly consent: string;
  readonly refText: string | null;
  readonly description: string;
}

/**
 * Reads the text fields of a new voice; ignores unknown ones. Throws a 422 {@link ServiceError} for a missing or
 * repeated field and a 400 for invalid values; either names the field and what to do.
 */
export function readVoiceForm(fields: readonly FormField[]): NewVoice {
  const name = required("name", fields, "what the voice is to be called").trim();
  const problem = nameProblem(name);
  if (problem !== null) throw fieldError("name", `${quoted(name)} ${problem}`);
  const consent = required("consent", fields, "a statement that the speaker agrees").trim();
  if (DENIALS.test(consent)) throw fieldError("consent", "says no: make a voice only if the speaker agrees");
  const refText = one("ref_text", fields)?.trim() ?? "";
  const description = (one("description", fields) ?? one("speaker_description", fields) ?? "").trim();
  for (const [field, value] of Object.entries({ name, consent, ref_text: refText, description })) {
    const max = MAX_CHARS[field as keyof typeof MAX_CHARS];
    const chars = countChars(value);
    if (chars > max) throw fieldError(field, `has ${chars} characters, and at most ${max} are allowed`);
  }
  return { name, consent, refText: refText === "" ? null : refText, description };
}

/** Returns the header of the fields that {@link readVoiceForm} ignores; `null` if there are none. */
export function ignoredVoiceFields(fields: readonly FormField[]): string | null {
  const unread = new IgnoredFields();
  for (const { name } of fields) if (!READ.has(name)) unread.add("", name);
  return unread.headerValue();
}

const READ = new Set([...Object.keys(NewVoiceForm.properties), "speaker_description"]);

/** Returns what is wrong with a voice's name, as the rest of a sentence; `null` if it is valid. */
export function nameProblem(name: string): string | null {
  if (name === "") return "is empty: say what the voice is to be called";
  if (!name.isWellFormed() || UNSEEN.test(name)) return "has characters that cannot be seen: leave them out";
  if (!SEEN.test(name)) return "has nothing that can be seen: give it a letter";
  // Names are compared in this form, so none may look like an id or a mix.
  const folded = name.normalize("NFKC");
  if (/[/\\+()"]/.test(folded) || /^\.+$/.test(folded))
    return 'must have none of / \\ + ( ) " and more than dots: take another';
  if (/^voice_/i.test(folded)) return "begins as ids do, with voice_: take another";
  return null;
}

/**
 * Controls, formats and default-ignorable characters, except variation selectors; and blanks that Unicode counts as
 * symbols or letters: empty braille, hieroglyphic and Khitan fillers, a musical null notehead.
 */
const UNSEEN =
  /(?!\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}]/u;
const SEEN = /[^\p{Z}\p{Variation_Selector}]/u;
const DENIALS = /^(?:false|no|none|null|0)$/i;

function required(field: string, fields: readonly FormField[], what: string): string {
  const value = one(field, fields);
  if (value === undefined) throw fieldError(field, `is missing: send ${what}`, 422);
  if (value.trim() === "") throw fieldError(field, `is empty: send ${what}`);
  return value;
}

function one(field: string, fields: readonly FormField[]): string | undefined {
  const [first, ...more] = fields.filter(({ name }) => name === field);
  if (more.length > 0) throw fieldError(field, "is there more than once: send it once", 422);
  return first?.value;
}
