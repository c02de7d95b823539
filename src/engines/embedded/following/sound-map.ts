import { addBetweenBands, BANDS, bandLogs } from "../../following/analysis/bands.ts";
import { type Frame, squaredDistance, toShape } from "../../following/sound-kinds.ts";
import { VOICED_ABOVE_HZ } from "../../prosody/frames.ts";
import { BIN_HZ, BINS } from "../../prosody/spectral-frame.ts";
import { PART } from "../geometry.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Colouring } from "../waveform.ts";

/** How our sounds become somebody's: a gain in every band, another for each kind of sound. */
export interface SoundMap {
  readonly kinds: number;
  /** [kinds, 40]: shapes, by which a frame's kind is seen in its description, before it is heard. */
  readonly signs: Float64Array;
  readonly frame: Frame;
  /** [kinds, 40]: added to the natural logarithm of the power. */
  readonly gains: Float64Array;
  /** [40]: what the gains are to do to the mean of all sounds. */
  readonly meant: Float64Array;
}

/** Colours what another colouring has coloured. Made anew for each sentence: it goes from kind to kind smoothly. */
export function createMappedColouring(under: Colouring, map: SoundMap, pitchHz: Float32Array): Colouring {
  const shape = new Float64Array(BANDS);
  const weights = new Float64Array(map.kinds);
  const gains = new Float64Array(BANDS);
  let isFirst = true;
  return {
    apply(kernel, frame, spectra, offset) {
      under.apply(kernel, frame, spectra, offset);
      describe(kernel, pitchHz[frame]!, shape);
      toShape(shape, map.frame);
      weigh(map, shape, weights, isFirst ? 0 : INERTIA);
      isFirst = false;
      gains.fill(0);
      for (let kind = 0; kind < map.kinds; kind++) {
        const weight = weights[kind]!;
        if (weight < NEGLIGIBLE) continue;
        for (let band = 0; band < BANDS; band++) gains[band]! += weight * map.gains[kind * BANDS + band]!;
      }
      addBetweenBands(gains, AMPLITUDE, kernel.gain);
      fadeAbove(kernel.gain, gains[BANDS - 1]! * AMPLITUDE);
    },
  };
}

/** Root mean square over the bands of what the gains have in common, in decibels. */
export function commonGainDb({ gains, kinds }: SoundMap): number {
  let sum = 0;
  for (let band = 0; band < BANDS; band++) {
    let mean = 0;
    for (let kind = 0; kind < kinds; kind++) mean += gains[kind * BANDS + band]! / kinds;
    sum += mean * mean;
  }
  return (Math.sqrt(sum / BANDS) * 10) / Math.LN10;
}

/**
 * Log powers of a frame in the bands, from what the kernel is about to make a sound of: the free part, and the pulses,
 * whose harmonics, 1 high and `pitchHz` apart, have 1.5 bins' worth of power each under a Hann window.
 */
export function describe<T extends Float32Array | Float64Array>(kernel: Kernel, pitchHz: number, out: T): T {
  const { spectrum, gain } = kernel;
  const pulsePower = pitchHz > VOICED_ABOVE_HZ ? (1.5 * BIN_HZ) / pitchHz : 0;
  for (let bin = 0; bin < BINS; bin++) {
    const added = gain[bin]!;
    const free = Math.exp(2 * (spectrum[PART.freeGain + bin]! + added));
    const pulses = pulsePower && pulsePower * Math.exp(2 * (spectrum[PART.pulseGain + bin]! + added));
    powers[bin] = free + pulses;
  }
  return bandLogs(powers, out);
}

/** How near a frame is to each kind, the weights adding up to 1; `inertia` of the weights before stay. */
function weigh(map: SoundMap, shape: Float64Array, weights: Float64Array, inertia: number): void {
  const nearness = distances(map, shape);
  const min = nearness.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  let sum = 0;
  nearness.forEach((distance, kind) => {
    nearness[kind] = Math.exp((min - distance) / SOFTNESS);
    sum += nearness[kind]!;
  });
  for (let kind = 0; kind < map.kinds; kind++) {
    weights[kind] = inertia * weights[kind]! + ((1 - inertia) * nearness[kind]!) / sum;
  }
}

function distances({ kinds, signs }: SoundMap, shape: Float64Array): Float64Array {
  return Float64Array.from({ length: kinds }, (_, kind) => squaredDistance(signs, kind * BANDS, shape, 0));
}

/** Above the bands the last gain dies away, the sooner if it lifts what nobody has measured. */
function fadeAbove(gain: Float32Array, last: number): void {
  const bins = last > 0 ? LIFTED_BINS : LOWERED_BINS;
  for (let bin = FADE_FROM_BIN; bin < BINS; bin++) {
    gain[bin]! -= last * Math.min(1, (bin - FADE_FROM_BIN) / bins);
  }
}

/** Squared distance at which a kind counts e times less. */
const SOFTNESS = 20;
/** Share of the weights that stays from the frame before: kinds change over some 25 ms. */
const INERTIA = 0.5;
const NEGLIGIBLE = 1e-3;
/** Gains are of power, the kernel's of amplitude. */
const AMPLITUDE = 0.5;
const FADE_FROM_BIN = 7_600 / BIN_HZ;
const LIFTED_BINS = 900 / BIN_HZ;
const LOWERED_BINS = 1_400 / BIN_HZ;

const powers = new Float64Array(BINS);
