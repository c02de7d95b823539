import type { ModelVoice, VoiceSupport } from "../core/model-card.ts";

/**
 * The embedded voice's people. OpenAI's thirteen names mean twelve of them: `alloy`, its clients' default, and `nova` both mean
 * `0`, and `2` has no other name.
 */
export const EMBEDDED_CAST: readonly ModelVoice[] = (
  [
    ["0", "female", "A woman's voice.", "alloy", "nova"],
    ["1", "male", "A man's voice.", "echo"],
    ["2", "female", "A low woman's voice."],
    ["3", "male", "A light man's voice.", "ash"],
    ["4", "female", "A bright woman's voice.", "shimmer"],
    ["5", "female", "A clear woman's voice.", "marin"],
    ["6", "male", "A calm man's voice.", "cedar"],
    ["7", "male", "A very deep man's voice.", "onyx"],
    ["8", "female", "A gentle woman's voice.", "sage"],
    ["9", "male", "A lively man's voice.", "verse"],
    ["10", "male", "A storyteller's voice, a man's.", "fable"],
    ["11", "female", "A relaxed woman's voice.", "coral"],
    ["12", "male", "A grave man's voice.", "ballad"],
  ] as const
).map(([id, sex, description, ...aliases]) => ({
  id,
  name: `Speaker ${id}`,
  sex,
  accent: "en-US",
  description,
  aliases,
}));

/** A recording is followed as the audio of earlier turns is; two voices do not make a third. */
export const EMBEDDED_TAKES: VoiceSupport = {
  mixes: false,
  samples: true,
  manner: "figures",
  marks: true,
  englishOnly: true,
};

/**
 * The voices of labels by whatever speaks for them, of whom nothing is known but that the names are theirs: those of the
 * embedded voice's women mean the first, those of its men the second.
 */
export function labelCast(): readonly ModelVoice[] {
  return EMBEDDED_CAST.slice(0, 2).map(({ id, name, sex }) => ({
    id,
    name,
    sex: null,
    accent: null,
    description: `The model's voice for the speaker ${id}.`,
    aliases: EMBEDDED_CAST.filter((voice) => voice.sex === sex)
      .flatMap(({ aliases }) => aliases)
      .sort(),
  }));
}
