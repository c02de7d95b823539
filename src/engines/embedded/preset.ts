import type { Preset, UnusedKnobs } from "../../core/script.ts";
import type { FollowLevel } from "./following/follow.ts";

/** The options of this engine that a public model may set, with their ranges. */
export interface VoiceOptions {
  /** Default true: whether `acousticTemperature` does anything. */
  readonly acoustics: boolean;
  /** `pitch`, `pace`, `tract` or, by default, `all`: how much of a voice that was heard is followed. */
  readonly follows: FollowLevel;
}

/** Reads a preset; what it does not say takes its default, numbers are held to their range. */
export function voiceOptions(preset: Preset): VoiceOptions {
  return {
    acoustics: preset.acoustics !== false,
    follows: FOLLOWINGS.find((each) => each === preset.follows) ?? "all",
  };
}

const FOLLOWINGS: readonly FollowLevel[] = ["pitch", "pace", "tract", "all"];

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
