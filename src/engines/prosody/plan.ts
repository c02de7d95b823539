import { FRAMES_PER_STEP } from "./frames.ts";

/** What a network makes of a sentence's phonemes, before any of it is edited. */
export interface TextReading {
  /** Length of each phoneme in steps of 25 ms, not yet rounded; [L]. */
  readonly steps: Float32Array;
  /** What the prosody is predicted from; [channels, L]. */
  readonly prosodyEncoding: Float32Array;
  /** What is decoded; [channels, L]. */
  readonly decoderEncoding: Float32Array;
}

/** Pitch and energy of every frame (12.5 ms). */
export interface Contour {
  /** Hertz; at most 40 where unvoiced. */
  readonly pitchHz: Float32Array;
  /** In the network's own unit: about −9 in silence, 4 to 9 in speech. */
  readonly energy: Float32Array;
}

/** A network that plans how a sentence is spoken, in two steps. */
export interface PlanningNetwork {
  read(ids: readonly number[]): Promise<TextReading>;
  /** @param columns [channels, steps]: the prosody encoding, each column as often as its phoneme is long. */
  intone(columns: Float32Array): Promise<Contour>;
}

/**
 * The first half of a plan: how long each phoneme is. `steps` may be changed before the second half, which then
 * intones the changed sentence.
 */
export interface Timing extends TextReading {
  /** Phoneme ids, with the silent id 0 at both ends. */
  readonly ids: readonly number[];
}

/**
 * How a sentence will be spoken. `pitchHz` and `energy` may be changed before decoding: the decoder follows them.
 */
export interface Plan extends Contour {
  readonly ids: readonly number[];
  /** Length of each phoneme in steps of 25 ms: at least 1. */
  readonly steps: Int32Array;
  /** Index of the phoneme that each step belongs to. */
  readonly owner: Int32Array;
  /** Length of the sentence in spectral frames of 12.5 ms: twice the steps. */
  readonly frames: number;
  /** [channels, ids.length]. */
  readonly decoderEncoding: Float32Array;
  /** Factor on the samples of each frame; absent, all are 1. */
  readonly gain?: Float32Array;
}

/** The first half: phonemes in, durations out. */
export async function planTiming(network: PlanningNetwork, ids: readonly number[]): Promise<Timing> {
  return { ids, ...(await network.read(ids)) };
}

/** The second half: durations in, pitch and energy out. */
export async function planContour(network: PlanningNetwork, timing: Timing): Promise<Plan> {
  const steps = Int32Array.from(timing.steps, wholeSteps);
  const owner = ownersOf(steps);
  const columns = stretched(timing.prosodyEncoding, timing.ids.length, owner);
  const contour = await network.intone(columns);
  const { ids, decoderEncoding } = timing;
  return { ids, steps, owner, frames: FRAMES_PER_STEP * owner.length, decoderEncoding, ...contour };
}

/** The plan that the decoder is given. @param decoderPitch the pitch that it is told, as a factor on the plan's */
export function forDecoder(plan: Plan, { decoderPitch }: { readonly decoderPitch: number }): Plan {
  return decoderPitch === 1 ? plan : { ...plan, pitchHz: plan.pitchHz.map((hz) => hz * decoderPitch) };
}

/** A length in whole steps, as the network's training rounded it: at least 1. */
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

/** Each column of an encoding [channels, length] as often as it is long. @param owner whose column each step has */
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

/** As NumPy and the network's training rounded: halves go to the even neighbour. */
function roundHalfToEven(value: number): number {
  const nearest = Math.round(value);
  return Math.abs(value % 1) === 0.5 && nearest % 2 !== 0 ? nearest - 1 : nearest;
}
