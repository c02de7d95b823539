import type { Plan } from "./plan.ts";

/** Where in a planned sentence there is sound, in frames of 12.5 ms. */
export interface SpeechSpan {
  /** The first frame with sound in it. */
  readonly onset: number;
  /** The last one. */
  readonly last: number;
  /** What is worth decoding: [from, to), with the sound's rise and its dying away. */
  readonly from: number;
  readonly to: number;
}

/** About 45 dB below a sentence's loudest frames (measured on the goldens: −1 goes with an RMS of 0.0005). */
export const AUDIBLE_ENERGY = -1;

/**
 * Finds the sound in a plan. The network begins every sentence with some 0.3 s of silence and ends it with some
 * 0.4 s; its own energy track tells where, before anything is decoded.
 */
export function speechSpan({ energy, frames }: Plan): SpeechSpan {
  let onset = 0;
  while (onset < frames - 1 && energy[onset]! < AUDIBLE_ENERGY) onset++;
  let last = frames - 1;
  while (last > onset && energy[last]! < AUDIBLE_ENERGY) last--;
  return {
    onset,
    last,
    from: Math.max(0, onset - RISE_FRAMES),
    to: Math.min(frames, last + 1 + FALL_FRAMES),
  };
}

/** Makes silent what comes before the first frame that is louder than a room, and after the last. */
export function silenceAround({ energy }: Pick<Plan, "energy">, roomEnergy: number): void {
  const isLouder = (each: number) => each > roomEnergy;
  energy.fill(SURROUNDING_ENERGY, 0, Math.max(0, energy.findIndex(isLouder)));
  energy.fill(SURROUNDING_ENERGY, energy.findLastIndex(isLouder) + 1);
}

/** What the network gives the silence around a sentence. */
const SURROUNDING_ENERGY = -9.4;

/** 25 ms: with fewer frames before it the overlap-add would soften a plosive. */
const RISE_FRAMES = 2;
/** 100 ms: the sound is then 60 dB down. */
const FALL_FRAMES = 8;
