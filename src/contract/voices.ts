import Type, { type Static } from "typebox";
import { ServiceError } from "./errors.ts";
import { quoted } from "./quoted.ts";

/** One voice. */
export const Voice = Type.Object(
  {
    id: Type.String({ description: "A speaker label." }),
    name: Type.String(),
    description: Type.String(),
    aliases: Type.Array(Type.String(), { description: "OpenAI's voice names that select this one." }),
  },
  { title: "Voice" },
);
export type Voice = Static<typeof Voice>;

/** Reply of `GET /v1/audio/voices`. */
export const VoiceList = Type.Object(
  {
    data: Type.Array(Voice),
    voices: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }), {
      description: "Every possible value of `voice`, in the form that clients with a voice menu expect.",
    }),
  },
  { title: "VoiceList" },
);
export type VoiceList = Static<typeof VoiceList>;

/** The speakers of every public model, as voices. */
export const VOICES: readonly Voice[] = [
  {
    id: "0",
    name: "Speaker 0",
    description: "A woman's voice.",
    aliases: ["alloy", "coral", "marin", "nova", "sage", "shimmer"],
  },
  {
    id: "1",
    name: "Speaker 1",
    description: "A man's voice.",
    aliases: ["ash", "ballad", "cedar", "echo", "fable", "onyx", "verse"],
  },
];

/** The voices as `GET /v1/audio/voices` lists them. */
export function voiceList(): VoiceList {
  const aliases = VOICES.flatMap((voice) =>
    voice.aliases.map((alias) => ({ id: alias, name: capitalised(alias) })),
  );
  return { data: [...VOICES], voices: [...VOICES.map(({ id, name }) => ({ id, name })), ...aliases] };
}

function capitalised(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

/**
 * The speaker label that a voice's id, its name or one of OpenAI's means, in any case. Throws a 400 {@link ServiceError}
 * that lists them.
 *
 * @param field what messages call it
 */
export function speakerNamed(asked: string, field: string): string {
  const lower = asked.toLowerCase();
  const voice = VOICES.find(
    ({ id, name, aliases }) => id === lower || name.toLowerCase() === lower || aliases.includes(lower),
  );
  if (voice !== undefined) return voice.id;
  const valid = VOICES.map(({ id, aliases }) => `"${id}" (or ${aliases.join(", ")})`).join(", ");
  throw new ServiceError(400, `${field} ${quoted(asked)} is unknown: the voices are ${valid}`, {
    param: field,
  });
}
