import type { Preset, UnusedKnobs } from "../../model/script.ts";
import type { FollowLevel } from "./follow/follow.ts";

/** The options of this engine that a public model may set, with their ranges. */
export interface VoiceOptions {
  /** 0 to 2, default 1: scales how far delivery departs from a plain reading as the temperature rises. */
  readonly liveliness: number;
  /** Default true: whether `acousticTemperature` does anything. */
  readonly acoustics: boolean;
  /** 0.7 to 1.25, default 1: how fast the voice speaks. */
  readonly rate: number;
  /** `pitch`, `pace`, `tract` or, by default, `all`: how much of a voice that was heard is followed. */
  readonly follows: FollowLevel;
}

/** Reads a preset; what it does not say takes its default, numbers are held to their range. */
export function voiceOptions(preset: Preset): VoiceOptions {
  const number = (name: string, fallback: number, min: number, max: number) => {
    const value = preset[name];
    return typeof value === "number" ? Math.min(max, Math.max(min, value)) : fallback;
  };
  return {
    liveliness: number("liveliness", 1, 0, 2),
    acoustics: preset.acoustics !== false,
    rate: number("rate", 1, 0.7, 1.25),
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
