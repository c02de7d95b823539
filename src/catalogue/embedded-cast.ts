import type { CastVoice, TakenVoices } from "../model/model-card.ts";

/** The embedded voice's speakers. Each of OpenAI's thirteen names means the one of its sex. */
export const EMBEDDED_CAST: readonly CastVoice[] = [
  {
    id: "0",
    name: "Speaker 0",
    sex: "female",
    accent: "en-US",
    description: "A woman's voice.",
    aliases: ["alloy", "coral", "marin", "nova", "sage", "shimmer"],
  },
  {
    id: "1",
    name: "Speaker 1",
    sex: "male",
    accent: "en-US",
    description: "A man's voice.",
    aliases: ["ash", "ballad", "cedar", "echo", "fable", "onyx", "verse"],
  },
];

/** A recording is followed as the audio of earlier turns is; two voices do not make a third. */
export const EMBEDDED_TAKES: TakenVoices = { mixes: false, samples: true, manner: "figures" };

/** The voices of labels by whatever speaks for them, of whom nothing is known but that the names are theirs. */
export function labelCast(): readonly CastVoice[] {
  return EMBEDDED_CAST.map((voice) => ({
    ...voice,
    sex: null,
    accent: null,
    description: `The model's voice for the speaker ${voice.id}.`,
  }));
}
