import type { CastVoice, TakenVoices } from "../model/model-card.ts";

/** The embedded voice's people. Each of OpenAI's thirteen names means one of them. */
export const EMBEDDED_CAST: readonly CastVoice[] = [
  {
    id: "0",
    name: "Speaker 0",
    sex: "female",
    accent: "en-US",
    description: "A woman's voice.",
    aliases: ["alloy", "nova", "shimmer"],
  },
  {
    id: "1",
    name: "Speaker 1",
    sex: "male",
    accent: "en-US",
    description: "A man's voice.",
    aliases: ["ash", "cedar", "echo", "onyx"],
  },
  {
    id: "2",
    name: "Speaker 2",
    sex: "female",
    accent: "en-US",
    description: "A low woman's voice.",
    aliases: ["marin", "sage"],
  },
  {
    id: "3",
    name: "Speaker 3",
    sex: "male",
    accent: "en-US",
    description: "A light man's voice.",
    aliases: ["ballad", "fable", "verse"],
  },
  {
    id: "4",
    name: "Speaker 4",
    sex: "female",
    accent: "en-US",
    description: "A bright woman's voice.",
    aliases: ["coral"],
  },
];

/** A recording is followed as the audio of earlier turns is; two voices do not make a third. */
export const EMBEDDED_TAKES: TakenVoices = {
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
export function labelCast(): readonly CastVoice[] {
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
