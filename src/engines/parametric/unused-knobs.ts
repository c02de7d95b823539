import type { Preset, UnusedKnobs } from "../../model/script.ts";
import { voiceOptions } from "./preset.ts";

/** Which knobs do nothing to this voice under a preset; docs/models.md says what the others do. */
export function unusedKnobs(preset: Preset): UnusedKnobs {
  const nothing = "The voice makes no choices that could repeat.";
  return {
    topK: "The voice chooses nothing from a list. It counts for replies that a language model in the server writes.",
    repetitionPenalty: nothing,
    penaltyWindow: nothing,
    ...(voiceOptions(preset).acoustics
      ? {}
      : { acousticTemperature: "This model keeps its acoustics even." }),
  };
}
