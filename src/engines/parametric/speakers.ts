import { createTimbre } from "./colour.ts";
import type { Register } from "./delivery.ts";
import { type Colouring, PLAIN } from "./waveform.ts";

/** One of the voices that the network's weights give. */
export interface Speaker {
  readonly register: Register;
  readonly colouring: Colouring;
}

/**
 * `0` is the voice as it was trained, a woman's. `1` is a man's, derived from it: pitch × 0.6 with nine tenths of its
 * range, a vocal tract a fifth longer, and the treble that this costs put back.
 */
export function createSpeakers(): ReadonlyMap<string, Speaker> {
  return new Map([
    ["0", { register: { level: 1, range: 1 }, colouring: PLAIN }],
    [
      "1",
      { register: { level: 0.6, range: 0.9 }, colouring: createTimbre({ warp: 0.84, tiltDbPerOctave: 2 }) },
    ],
  ]);
}
