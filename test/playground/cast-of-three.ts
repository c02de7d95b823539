import type { ModelVoice } from "../../src/core/model-card.ts";
import type { PublicModel } from "../../src/models/public-models.ts";
import { PUBLIC_MODELS } from "../../src/models/public-models.ts";

const NAMES = {
  "0": ["alloy", "coral", "marin", "nova", "sage", "shimmer"],
  "1": ["ash", "cedar", "echo", "onyx"],
  dora: ["ballad", "fable", "verse"],
} as const;

/** Three voices that share OpenAI's names. */
export const THREE: readonly ModelVoice[] = Object.entries(NAMES).map(([id, aliases]) => ({
  id,
  name: id === "dora" ? "Dora" : `Speaker ${id}`,
  sex: id === "1" ? "male" : "female",
  language: id === "dora" ? "es" : "en-US",
  description: "Speaks up.",
  aliases,
}));

/** The public models with these voices. @param mixes whether they can be mixed */
export function castOfThree({ mixes }: { readonly mixes: boolean }): readonly PublicModel[] {
  return PUBLIC_MODELS.map((model) => ({
    ...model,
    card: { ...model.card, voices: THREE, takes: { mixes, samples: true } },
  }));
}
