import type { Preset, UnusedKnobs } from "../../core/script.ts";
import { UNUSED_SAMPLING_KNOBS } from "../prosody/apply-manner.ts";
import type { FollowLevel } from "./following/follow.ts";

/**
 * Reads this engine's options: whether `acousticTemperature` has an effect (by default it has), and how much of an
 * analysed voice is followed (by default all).
 */
export function readPreset(preset: Preset): { readonly acoustics: boolean; readonly follows: FollowLevel } {
  return {
    acoustics: preset.acoustics !== false,
    follows: FOLLOWINGS.find((each) => each === preset.follows) ?? "all",
  };
}

const FOLLOWINGS: readonly FollowLevel[] = ["pitch", "pace", "tract", "all"];

/** Returns the knobs that do nothing under a preset. docs/models.md describes the others. */
export function unusedKnobs(preset: Preset): UnusedKnobs {
  return {
    ...UNUSED_SAMPLING_KNOBS,
    ...(readPreset(preset).acoustics ? {} : { acousticTemperature: "This model keeps its acoustics even." }),
  };
}
