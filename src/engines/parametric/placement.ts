import { HOP_SAMPLES } from "./geometry.ts";

/** Where in an utterance the frames of a plan are heard. */
export interface Placement {
  /** Samples of the utterance before the passage's first, and the plan's frame that this one belongs to. */
  readonly atSample: number;
  readonly frame: number;
}

/** The first sample of a plan's frame in the utterance; what was cut off before a passage begins with it. */
export function sampleOf({ atSample, frame }: Placement, ofFrame: number): number {
  return atSample + Math.max(0, ofFrame - frame) * HOP_SAMPLES;
}
