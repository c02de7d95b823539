import { nameKeyOf } from "../../accounts/voice-store.ts";
import type { CastVoice, ModelCard } from "../../core/model-card.ts";
import type { PublicModel } from "../../models/public-models.ts";
import { castVoiceNamed, isPassedOn } from "../prepare/choose-voice.ts";

/** Voices that are known only where they are computed, by the ids of the public models that speak with them. */
export type VoicesElsewhere = ReadonlyMap<string, readonly CastVoice[]>;

/**
 * Asks for the voices of checkpoints that compute elsewhere.
 *
 * @param byCheckpoint how each is asked; never rejects, and takes no longer than a list is worth
 */
export async function voicesElsewhere(
  models: readonly PublicModel[],
  byCheckpoint: ReadonlyMap<string, () => Promise<readonly CastVoice[]>>,
): Promise<VoicesElsewhere> {
  const asked = models.map(async ({ card, checkpoint }) => {
    const voices = await byCheckpoint.get(checkpoint)?.();
    return [card.id, voices ?? []] as const;
  });
  return new Map(await Promise.all(asked));
}

/**
 * The cards with the voices elsewhere that a request can name, and that mean themselves: not something else that is known
 * here by that name.
 *
 * @param recorded the names of recordings, which come first where a model follows one
 */
export function withVoicesElsewhere(
  cards: readonly ModelCard[],
  there: VoicesElsewhere,
  recorded: readonly string[],
): readonly ModelCard[] {
  const taken = new Set(recorded.map(nameKeyOf));
  return cards.map((card) => {
    const isReached = ({ id }: CastVoice): boolean =>
      isSayable(id) &&
      isPassedOn(id, card) &&
      castVoiceNamed(id, card) === null &&
      !(card.takes.samples && taken.has(nameKeyOf(id)));
    const more = (there.get(card.id) ?? []).filter(isReached);
    return more.length === 0 ? card : { ...card, voices: [...card.voices, ...more] };
  });
}

/** Whether a `voice` can be that name: not what is read as a mix, and nothing that cannot be seen. */
function isSayable(id: string): boolean {
  return id === id.trim() && id.isWellFormed() && !/[+()\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(id);
}
