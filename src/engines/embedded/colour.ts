import { VOICED_ABOVE_HZ } from "../prosody/frames.ts";
import type { Plan } from "../prosody/plan.ts";
import type { Random } from "../prosody/random.ts";
import { BIN_HZ, BINS } from "../prosody/spectral-frame.ts";
import { PART } from "./geometry.ts";
import type { Kernel } from "./kernel/kernel.ts";
import { BANDS } from "./kernel/layout.ts";
import { type Colouring, PLAIN } from "./waveform.ts";

/** A vocal tract and a source other than those that the voice was trained with. */
export interface Timbre {
  /** Where formants go: 0.84 moves what was at 1000 Hz to 840 Hz, a longer throat. */
  readonly warp: number;
  /** A further such factor for what arrives at a frequency: no two throats differ by length alone. 1 unless given. */
  bend?(hz: number): number;
  /** Added at a frequency, to make up for what the warp takes from the treble. */
  gainDb(hz: number): number;
}

/**
 * Moves the spectrum's envelope along the frequency axis: out(k) = in(k / (warp · bend)), log magnitudes between bins, phases
 * from the nearest. A component that is moved by q bins needs a quarter turn more for each hop and bin, the hop being
 * a quarter of the window. Above what the voice has, its spectrum goes on as that of a sampled signal does: mirrored, with
 * phases negated, so that what is noise there stays noise (one phase for all those bins would be an impulse in the middle
 * of each window).
 */
export function createTimbre({ warp, bend = () => 1, gainDb }: Timbre): Colouring {
  const lower = new Int32Array(BINS);
  const share = new Float32Array(BINS);
  const nearest = new Int32Array(BINS);
  const gain = new Float32Array(BINS);
  const turns = [0, 1, 2, 3].map(() => new Float32Array(BINS));
  /** The first bin whose like lies beyond the voice's last. */
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
  const { pulseGain, pulsePhase, noiseGain, freeGain, freePhase } = PART;
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
 * Without what lies below a voice, where teachers leave pops of a few hertz; and what is unvoiced above 10 kHz is noise: the
 * phases that networks learn there are much the same in every hop, which buzzes. The kernel's noise has twice the power
 * that its gain says; the louder of the two parts stands for both.
 */
export const CLEANED: Colouring = {
  apply(kernel, ...frame) {
    PLAIN.apply(kernel, ...frame);
    const { gain, spectrum } = kernel;
    for (let bin = 0; bin < RUMBLE_BINS; bin++) gain[bin] = RUMBLE_NEPERS * (1 - bin / RUMBLE_BINS);
    for (let bin = NOISE_FROM_BIN; bin < BINS; bin++) {
      const free = spectrum[PART.freeGain + bin]! - Math.LN2 / 2;
      if (free > spectrum[PART.noiseGain + bin]!) spectrum[PART.noiseGain + bin] = free;
      spectrum[PART.freeGain + bin] = SILENT_GAIN;
    }
  },
};

/** So many decibels more for each octave above 500 Hz. */
export function tilted(dbPerOctave: number): Timbre["gainDb"] {
  return (hz) => dbPerOctave * Math.max(0, Math.log2(hz / TILT_FROM_HZ));
}

/** A value (decibels, a factor) at some frequencies in hertz, rising; between them straight over the logarithm of the frequency. */
export function shelved(points: readonly (readonly [hz: number, value: number])[]): (hz: number) => number {
  return (hz) => {
    const above = points.findIndex(([at]) => at > hz);
    if (above <= 0) return points.at(above)?.[1] ?? 0;
    const [[fromHz, from], [toHz, to]] = [points[above - 1]!, points[above]!];
    return from + ((to - from) * Math.log(hz / fromHz)) / Math.log(toHz / fromHz);
  };
}

/** Makes what is unvoiced softer, over some 25 ms: a treble that is right for vowels is too much for consonants. */
export function withSofterConsonants(
  under: Colouring,
  { pitchHz }: Pick<Plan, "pitchHz">,
  softerDb: number,
): Colouring {
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
 * Fine acoustic variety on top of another colouring: the loudness of sixteen bands wanders slowly (1 dB for strength
 * 1, a time constant of about 10 frames), and the free part's phase is shaken (0.27 rad for strength 1).
 */
export function createDrift(under: Colouring, strength: number, random: Random): Colouring {
  const levels = new Float64Array(BANDS);
  const nepers = DRIFT_DB * strength * NEPERS_PER_DB;
  return {
    apply(kernel: Kernel, frame, spectra, offset) {
      under.apply(kernel, frame, spectra, offset);
      for (let band = 0; band < BANDS; band++) {
        levels[band] = 0.9 * levels[band]! + 0.436 * random.gentle();
        kernel.bands[band] = nepers * levels[band]!;
      }
      kernel.addBands();
      kernel.shake[0] = SHAKE_RAD * strength;
    },
  };
}

/** 0, 20 and 40 Hz, by 60, 40 and 20 dB. */
const RUMBLE_BINS = 3;
const RUMBLE_NEPERS = -3 * Math.LN10;
const NOISE_FROM_BIN = 10_000 / BIN_HZ;
const SILENT_GAIN = -30;
const TILT_FROM_HZ = 500;
const NEPERS_PER_DB = Math.LN10 / 20;

function between(values: Float32Array, at: number, direction: 1 | -1, part: number): number {
  return values[at]! + part * (values[at + direction]! - values[at]!);
}

/** The bin that a bin of a sampled signal's spectrum repeats. */
function mirrored(bin: number): number {
  return bin < BINS ? bin : 2 * (BINS - 1) - bin;
}

/** Above what the voice has, its mirror image, ever softer. */
const BEYOND_DB = 0.06;
const DRIFT_DB = 1;
const SHAKE_RAD = 0.27;
