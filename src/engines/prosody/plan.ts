import { FRAMES_PER_STEP } from "./frames.ts";

export interface TextReading {
  /** Length of each phoneme in steps of 25 ms, unrounded; [L]. */
  readonly steps: Float32Array;
  readonly prosodyEncoding: Float32Array;
  readonly decoderEncoding: Float32Array;
}

export interface Contour {
  /** Hertz; at most 40 if unvoiced. */
  readonly pitchHz: Float32Array;
  /** The network's own unit: about −9 in silence, 4 to 9 in speech. */
  readonly energy: Float32Array;
}

export interface PlanningNetwork {
  read(ids: readonly number[]): Promise<TextReading>;
  /** @param columns [channels, steps]: the prosody encoding, each column repeated for its phoneme's length */
  intone(columns: Float32Array): Promise<Contour>;
}

export interface Timing extends TextReading {
  /** Phoneme ids, with the silent id 0 at both ends. */
  readonly ids: readonly number[];
}

export interface Plan extends Contour {
  readonly ids: readonly number[];
  /** Length of each phoneme in steps of 25 ms, at least 1. */
  readonly steps: Int32Array;
  /** Index of the phoneme of each step. */
  readonly owner: Int32Array;
  /** Length in frames: twice the steps. */
  readonly frames: number;
  readonly decoderEncoding: Float32Array;
  /** Factor on the samples of each frame. Default: 1. */
  readonly gain?: Float32Array;
}

export async function planTiming(network: PlanningNetwork, ids: readonly number[]): Promise<Timing> {
  return { ids, ...(await network.read(ids)) };
}

export async function planContour(network: PlanningNetwork, timing: Timing): Promise<Plan> {
  const steps = Int32Array.from(timing.steps, wholeSteps);
  const owner = ownersOf(steps);
  const columns = stretched(timing.prosodyEncoding, timing.ids.length, owner);
  const contour = await network.intone(columns);
  const { ids, decoderEncoding } = timing;
  return { ids, steps, owner, frames: FRAMES_PER_STEP * owner.length, decoderEncoding, ...contour };
}

/** Returns the plan as the decoder gets it. @param decoderPitch factor on the pitch */
export function forDecoder(plan: Plan, { decoderPitch }: { readonly decoderPitch: number }): Plan {
  return decoderPitch === 1 ? plan : { ...plan, pitchHz: plan.pitchHz.map((hz) => hz * decoderPitch) };
}

/** Rounds a length as the network's training did, to at least 1. */
export function wholeSteps(length: number): number {
  return Math.max(1, roundHalfToEven(length));
}

function ownersOf(steps: Int32Array): Int32Array {
  const owner = new Int32Array(steps.reduce((sum, length) => sum + length, 0));
  let at = 0;
  steps.forEach((length, index) => {
    owner.fill(index, at, at + length);
    at += length;
  });
  return owner;
}

/** Repeats each column of an encoding [channels, length] for its phoneme's length. */
export function stretched(encoding: Float32Array, length: number, owner: Int32Array): Float32Array {
  const channels = encoding.length / length;
  const out = new Float32Array(channels * owner.length);
  let to = 0;
  for (let channel = 0; channel < channels; channel++) {
    const row = channel * length;
    for (let step = 0; step < owner.length; step++) out[to++] = encoding[row + owner[step]!]!;
  }
  return out;
}

/** Rounds as NumPy does: halves go to the even neighbour. */
function roundHalfToEven(value: number): number {
  const nearest = Math.round(value);
  return Math.abs(value % 1) === 0.5 && nearest % 2 !== 0 ? nearest - 1 : nearest;
}

export interface SpeechSpan {
  readonly onset: number;
  readonly last: number;
  /** Frames [from, to) to decode, with the sound's rise and decay. */
  readonly from: number;
  readonly to: number;
}

/** About 45 dB below a sentence's loudest frames (measured on the goldens: −1 goes with an RMS of 0.0005). */
export const AUDIBLE_ENERGY = -1;

/** Finds the sound by its energy: the network begins with some 0.3 s of silence and ends with some 0.4 s. */
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

/** Silences what comes before the first frame louder than a room, and after the last. */
export function silenceRoomNoise({ energy }: Pick<Plan, "energy">, roomEnergy: number): void {
  const isLouder = (each: number) => each > roomEnergy;
  energy.fill(SURROUNDING_ENERGY, 0, Math.max(0, energy.findIndex(isLouder)));
  energy.fill(SURROUNDING_ENERGY, energy.findLastIndex(isLouder) + 1);
}

/** The network's energy in the silence around a sentence. */
const SURROUNDING_ENERGY = -9.4;

/** 25 ms: with fewer frames before it the overlap-add would soften a plosive. */
const RISE_FRAMES = 2;
/** 100 ms: the sound is then 60 dB down. */
const FALL_FRAMES = 8;
