import type { PublicModel } from "../catalogue/public-models.ts";
import type { AskedManner } from "../model/manner.ts";
import { castVoiceNamed } from "../serving/choose-voice.ts";
import { readInstructions } from "../serving/manner/read-manner.ts";
import type { Settings } from "../settings/schema.ts";
import { wrongSetting } from "../settings/settings-error.ts";

/** Sentences about the instructions of the setting `voices` of which nothing is done, whichever of the models speaks. */
export function unfollowedManners(
  models: readonly PublicModel[],
  { voices }: Pick<Settings, "voices">,
): string[] {
  if (models.some(({ card }) => card.takes.manner === "words")) return [];
  return Object.entries(voices).flatMap(([name, given]) => {
    const read = typeof given === "string" ? null : (readInstructions(given.instructions)?.read ?? null);
    if (read === null || read.followed.length > 0 || read.unfollowed.length === 0) return [];
    return [
      `The instructions of voices.${name} change nothing, because nothing in them is understood: ${read.unfollowed.join(", ")}. docs/voices.md lists what is.`,
    ];
  });
}

/**
 * The models with how their voices speak by the setting `voices`, where that has no recording.
 *
 * @throws SettingsError for a name that is no voice of any model, and for an entry that says nothing
 */
export function withVoiceManners(
  models: readonly PublicModel[],
  { voices }: Pick<Settings, "voices">,
): readonly PublicModel[] {
  const manners = models.map(() => new Map<string, AskedManner>());
  /** Which entry said it, by the model's place and the voice. */
  const saidBy = new Map<string, string>();
  for (const [name, given] of Object.entries(voices)) {
    if (typeof given === "string" || given.clip !== undefined) continue;
    const instructions = readInstructions(given.instructions);
    if (instructions === null) {
      throw wrongSetting(`voices.${name}`, "has neither clip nor instructions: give it one of them");
    }
    const known = models.map(({ card }, at) => {
      const ids = [castVoiceNamed(name, card)?.id, card.speakers.find((label) => label === name)];
      for (const id of ids) {
        if (id === undefined) continue;
        const other = saidBy.get(`${at} ${id}`) ?? name;
        if (other !== name) {
          throw wrongSetting(
            `voices.${name}`,
            `means the same voice of the model ${card.id} as voices.${other}: keep one of them`,
          );
        }
        saidBy.set(`${at} ${id}`, name);
        manners[at]!.set(id, instructions.asked);
      }
      return ids.some((id) => id !== undefined);
    });
    if (!known.includes(true)) {
      throw wrongSetting(
        `voices.${name}`,
        "is no voice of a model: give it a clip, or name one that there is",
      );
    }
  }
  return models.map((model, at) => (manners[at]!.size === 0 ? model : { ...model, manners: manners[at]! }));
}
