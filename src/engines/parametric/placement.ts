import { HOP_SAMPLES } from "./geometry.ts";

/** Where in an utterance the frames of a plan are heard. */
export interface Placement {
  /** Samples of the utterance before the passage's first, and the plan's frame that this one belongs to. */
  readonly atSample: number;
  readonly frame: number;
  /** The plan's frame behind the passage's last sample. */
  readonly endFrame: number;
}

/**
 * The first sample of a plan's frame in the utterance; what was cut off before a passage begins with it, and what was cut
 * off behind it with its end.
 */
export function sampleOf({ atSample, frame, endFrame }: Placement, ofFrame: number): number {
  return atSample + Math.max(0, Math.min(ofFrame, endFrame) - frame) * HOP_SAMPLES;
}
