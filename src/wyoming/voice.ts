import { ServiceError } from "../contract/errors.ts";
import { quoted } from "../contract/quoted.ts";
import { speakerNamed, VOICES } from "../contract/voices.ts";

/** What the voices speak. Home Assistant offers a voice for each of these by its exact name. */
export const VOICE_LANGUAGES: readonly string[] = ["en", "en-US", "en-GB"];

/**
 * The speaker label that an event's `voice` means: by its name (an id, or one of the names that OpenAI's clients know,
 * in any case), else by its language, for which any of them will do. Throws a 400 {@link ServiceError} that lists the
 * valid ones.
 */
export function speakerOf(voice: unknown): string {
  if (voice === undefined || voice === null) return VOICES[0]!.id;
  if (typeof voice !== "object")
    throw new ServiceError(422, "voice must be an object with a name or a language");
  const { name, language, speaker } = voice as Record<string, unknown>;
  // A voice has one speaker, so that its name and its speaker are two words for one thing.
  for (const [field, asked] of Object.entries({ "voice.name": name, "voice.speaker": speaker })) {
    if (asked === undefined || asked === null || asked === "") continue;
    if (typeof asked !== "string") throw new ServiceError(422, `${field} must be a string`);
    return speakerNamed(asked, field);
  }
  if (language === undefined || language === null || language === "") return VOICES[0]!.id;
  if (typeof language !== "string") throw new ServiceError(422, "voice.language must be a string");
  if (/^en(?:[-_]|$)/i.test(language)) return VOICES[0]!.id;
  throw new ServiceError(
    400,
    `voice.language ${quoted(language)} is not spoken here: ask for one of ${VOICE_LANGUAGES.join(", ")}`,
  );
}
