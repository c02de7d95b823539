import { BIN_HZ, BINS, VOICED_ABOVE_HZ } from "../prosody/frames.ts";
import type { Plan } from "../prosody/plan.ts";
import type { Random } from "../prosody/random.ts";
import type { Kernel } from "./kernel/kernel.ts";
import { BANDS, SPECTRUM_PART, SPECTRUM_VALUES } from "./kernel/layout.ts";

/** Edits a frame's spectrum on its way into the kernel. */
export interface SpectrumTransform {
  /** Writes `kernel.spectrum`, `gain`, `turn` and `shake` for one frame; called for each frame in order. */
  apply(kernel: Kernel, frame: number, spectra: Float32Array, offset: number): void;
}

export const UNCHANGED_SPECTRUM: SpectrumTransform = {
  apply(kernel, _frame, spectra, offset) {
    kernel.spectrum.set(spectra.subarray(offset, offset + SPECTRUM_VALUES));
    kernel.gain.fill(0);
    kernel.turn.fill(0);
    kernel.shake[0] = 0;
  },
};

/** Creates the transform of one sentence, since a transform may remember the frame before. */
export type TransformFactory = (plan: Plan) => SpectrumTransform;

export interface VocalTract {
  /** Factor on formant frequencies: 0.84, a longer tract, moves what was at 1000 Hz to 840 Hz. */
  readonly warp: number;
  /** A further factor by target frequency: vocal tracts differ not by length alone. Default: 1. */
  localWarp?(hz: number): number;
  gainDb(hz: number): number;
}

/**
 * Warps the spectral envelope along the frequency axis: out(k) = in(k / (warp · localWarp)), with log magnitudes
 * interpolated between bins and phases from the nearest. A component that moves by q bins needs a quarter turn more
 * per hop and bin, since the hop is a quarter of the window. Above the voice's bandwidth its spectrum is mirrored,
 * with negated phases, as a sampled signal's is, so that noise stays noise (one phase for all those bins would be an
 * impulse in the middle of each window).
 */
export function warpSpectralEnvelope({
  warp,
  localWarp: bend = () => 1,
  gainDb,
}: VocalTract): SpectrumTransform {
  const lower = new Int32Array(BINS);
  const share = new Float32Array(BINS);
  const nearest = new Int32Array(BINS);
  const gain = new Float32Array(BINS);
  const turns = [0, 1, 2, 3].map(() => new Float32Array(BINS));
  /** The first bin that reads from the mirrored spectrum. */
  let edge = BINS;
  for (let k = BINS - 1; k >= 0; k--) {
    const factor = warp * bend(k * BIN_HZ);
    if (k >= (BINS - 1) * factor) edge = k;
    const place = k / factor;
    const whole = Math.round(place);
    lower[k] = mirrored(Math.floor(place));
    share[k] = place - Math.floor(place);
    nearest[k] = mirrored(whole);
    const beyondDb = Math.max(0, place - (BINS - 1)) * BEYOND_DB;
    gain[k] = (gainDb(k * BIN_HZ) - beyondDb) * NEPERS_PER_DB;
    turns.forEach((turn, hop) => {
      turn[k] = (((k - whole) * hop) & 3) * (Math.PI / 2);
    });
  }
  const { pulseGain, pulsePhase, noiseGain, freeGain, freePhase } = SPECTRUM_PART;
  const stretch = (spectra: Float32Array, offset: number, into: Float32Array, from: number, to: number) => {
    const direction = from < edge ? 1 : -1;
    for (let k = from; k < to; k++) {
      const at = offset + lower[k]!;
      const near = offset + nearest[k]!;
      const part = share[k]!;
      into[k + pulseGain] = between(spectra, at + pulseGain, direction, part);
      into[k + noiseGain] = between(spectra, at + noiseGain, direction, part);
      into[k + freeGain] = between(spectra, at + freeGain, direction, part);
      into[k + pulsePhase] = direction * spectra[near + pulsePhase]!;
      into[k + freePhase] = direction * spectra[near + freePhase]!;
    }
  };
  return {
    apply({ spectrum, gain: kernelGain, turn, shake }, frame, spectra, offset) {
      stretch(spectra, offset, spectrum, 0, edge);
      stretch(spectra, offset, spectrum, edge, BINS);
      kernelGain.set(gain);
      turn.set(turns[frame & 3]!);
      shake[0] = 0;
    },
  };
}

/**
 * Removes rumble of a few hertz that teachers' recordings leave, and replaces unvoiced sound above 10 kHz with noise:
 * the phases that networks learn there repeat from hop to hop, which buzzes. The kernel's noise has twice the power
 * of its gain; the louder of the two parts stands for both.
 */
export const REMOVE_RUMBLE_AND_BUZZ: SpectrumTransform = {
  apply(kernel, ...frame) {
    UNCHANGED_SPECTRUM.apply(kernel, ...frame);
    const { gain, spectrum } = kernel;
    for (let bin = 0; bin < RUMBLE_BINS; bin++) gain[bin] = RUMBLE_NEPERS * (1 - bin / RUMBLE_BINS);
    for (let bin = NOISE_FROM_BIN; bin < BINS; bin++) {
      const free = spectrum[SPECTRUM_PART.freeGain + bin]! - Math.LN2 / 2;
      if (free > spectrum[SPECTRUM_PART.noiseGain + bin]!) spectrum[SPECTRUM_PART.noiseGain + bin] = free;
      spectrum[SPECTRUM_PART.freeGain + bin] = SILENT_GAIN;
    }
  },
};

export function trebleTiltDb(dbPerOctave: number): VocalTract["gainDb"] {
  return (hz) => dbPerOctave * Math.max(0, Math.log2(hz / TILT_FROM_HZ));
}

/** Interpolates values at rising frequencies (Hz) linearly over the logarithm of the frequency. */
export function interpolateOverFrequency(
  points: readonly (readonly [hz: number, value: number])[],
): (hz: number) => number {
  return (hz) => {
    const above = points.findIndex(([at]) => at > hz);
    if (above <= 0) return points.at(above)?.[1] ?? 0;
    const [[fromHz, from], [toHz, to]] = [points[above - 1]!, points[above]!];
    return from + ((to - from) * Math.log(hz / fromHz)) / Math.log(toHz / fromHz);
  };
}

/** Softens unvoiced frames, smoothed over some 25 ms: a treble that suits vowels is too much for consonants. */
export function softenConsonants(
  under: SpectrumTransform,
  { pitchHz }: Pick<Plan, "pitchHz">,
  softerDb: number,
): SpectrumTransform {
  let unvoiced: number | null = null;
  return {
    apply(kernel, frame, spectra, offset) {
      under.apply(kernel, frame, spectra, offset);
      const now = pitchHz[frame]! > VOICED_ABOVE_HZ ? 0 : 1;
      unvoiced = unvoiced === null ? now : (unvoiced + now) / 2;
      const down = unvoiced * softerDb * NEPERS_PER_DB;
      for (let k = 0; k < BINS; k++) kernel.gain[k]! -= down;
    },
  };
}

/**
 * Adds slow random variation after another transform: the loudness of sixteen bands (1 dB at strength 1, a time
 * constant of about 10 frames) and the free part's phase (0.27 rad at strength 1).
 */
export function createSpectralDrift(
  under: SpectrumTransform,
  strength: number,
  random: Random,
): SpectrumTransform {
  const levels = new Float64Array(BANDS);
  const nepers = DRIFT_DB * strength * NEPERS_PER_DB;
  return {
    apply(kernel: Kernel, frame, spectra, offset) {
      under.apply(kernel, frame, spectra, offset);
      for (let band = 0; band < BANDS; band++) {
        levels[band] = 0.9 * levels[band]! + 0.436 * random.nearNormal();
        kernel.bands[band] = nepers * levels[band]!;
      }
      kernel.addBands();
      kernel.shake[0] = SHAKE_RAD * strength;
    },
  };
}

const RUMBLE_BINS = 3;
const RUMBLE_NEPERS = -3 * Math.LN10;
const NOISE_FROM_BIN = 10_000 / BIN_HZ;
const SILENT_GAIN = -30;
const TILT_FROM_HZ = 500;
const NEPERS_PER_DB = Math.LN10 / 20;

function between(values: Float32Array, at: number, direction: 1 | -1, part: number): number {
  return values[at]! + part * (values[at + direction]! - values[at]!);
}

/** Returns the bin that mirrors a bin above the voice's bandwidth. */
function mirrored(bin: number): number {
  return bin < BINS ? bin : 2 * (BINS - 1) - bin;
}

/** Decibels per bin of mirrored spectrum. */
const BEYOND_DB = 0.06;
const DRIFT_DB = 1;
const SHAKE_RAD = 0.27;
