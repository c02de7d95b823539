import type { UnusedKnobs } from "../../core/script.ts";

/** Which knobs do nothing to Kokoro. */
export function unusedKokoroKnobs(): UnusedKnobs {
  const nothing = "The voice makes no choices that could repeat.";
  return {
    acousticTemperature: "The voice has no acoustic detail that could vary.",
    topK: "The voice chooses nothing from a list. It counts for replies that a language model in the server writes.",
    repetitionPenalty: nothing,
    penaltyWindow: nothing,
  };
}
