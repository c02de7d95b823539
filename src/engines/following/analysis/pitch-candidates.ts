import { RealFourier } from "../../../audio/fourier.ts";
import { PITCH_RATE_HZ } from "./pitch-signal.ts";
import type { Work } from "./work.ts";

/** What a frame's pitch may be. Candidate c of frame n stands at n · {@link MAX_CANDIDATES} + c. */
export interface PitchCandidates {
  /** Candidates of each frame, 0 to {@link MAX_CANDIDATES}. */
  readonly counts: Uint8Array;
  readonly pitchHz: Float32Array;
  /** The normalised difference at each candidate, 0 where the signal repeats exactly. */
  readonly difference: Float32Array;
  /** Root mean square of each frame's window, without its mean. */
  readonly level: Float32Array;
}

/** In noise the true period of a high pitch is one of many alike, its multiples: all of 440 Hz find room. */
export const MAX_CANDIDATES = 8;

/**
 * Finds the dips of YIN's normalised difference, the deepest first, each at the vertex of a parabola.
 *
 * @param signal at {@link PITCH_RATE_HZ}
 * @param frames frame n is centred on sample n · hopSamples
 */
export function* findPitchCandidates(
  signal: Float64Array,
  frames: number,
  hopSamples: number,
): Work<PitchCandidates> {
  const candidates = {
    counts: new Uint8Array(frames),
    pitchHz: new Float32Array(frames * MAX_CANDIDATES),
    difference: new Float32Array(frames * MAX_CANDIDATES),
    level: new Float32Array(frames),
  };
  const yin = new Yin();
  for (let frame = 0; frame < frames; frame++) {
    const level = yin.measure(signal, frame * hopSamples - WINDOW_CENTRE_SAMPLES);
    candidates.level[frame] = level;
    if (level > SILENT_LEVEL) keepDips(yin, frame, candidates);
    if (frame % FRAMES_AT_ONCE === FRAMES_AT_ONCE - 1) yield;
  }
  return candidates;
}

const FRAMES_AT_ONCE = 64;

/** 100 dB below full scale: what is left is rounding. */
const SILENT_LEVEL = 1e-5;

/** Dips above this are not worth a candidate. */
const MAX_DIFFERENCE = 0.7;

function keepDips({ normalised }: Yin, frame: number, candidates: PitchCandidates): void {
  const first = frame * MAX_CANDIDATES;
  for (let lag = MIN_LAG; lag <= MAX_LAG; lag++) {
    const value = normalised[lag]!;
    const before = normalised[lag - 1]!;
    const after = normalised[lag + 1]!;
    if (value >= MAX_DIFFERENCE || value >= before || value > after) continue;
    const shift = (before - after) / (2 * (before - 2 * value + after));
    const depth = Math.max(0, value - ((before - after) * shift) / 4);
    const pitchHz = PITCH_RATE_HZ / (lag + shift);
    insert(candidates, first, frame, Math.min(MAX_PITCH_HZ, Math.max(MIN_PITCH_HZ, pitchHz)), depth);
  }
}

/** Keeps the deepest dips in order. */
function insert(
  { counts, pitchHz, difference }: PitchCandidates,
  first: number,
  frame: number,
  hz: number,
  depth: number,
): void {
  const count = counts[frame]!;
  let at = first + count;
  if (count === MAX_CANDIDATES) {
    if (depth >= difference[at - 1]!) return;
    at--;
  } else {
    counts[frame] = count + 1;
  }
  for (; at > first && difference[at - 1]! > depth; at--) {
    difference[at] = difference[at - 1]!;
    pitchHz[at] = pitchHz[at - 1]!;
  }
  difference[at] = depth;
  pitchHz[at] = hz;
}

/** The range in which pitch is looked for, in hertz. */
export const MIN_PITCH_HZ = 55;
export const MAX_PITCH_HZ = 500;

/** 30 ms. */
const WINDOW_SAMPLES = 0.03 * PITCH_RATE_HZ;
/** Lags that are periods within the range, in samples. */
const MIN_LAG = Math.floor(PITCH_RATE_HZ / MAX_PITCH_HZ);
const MAX_LAG = Math.ceil(PITCH_RATE_HZ / MIN_PITCH_HZ);
/** A dip has a neighbour on either side. */
const LAGS = MAX_LAG + 2;

/** What a window is compared with lies a lag behind it: the middle of both, for the lag of 165 Hz. */
const WINDOW_CENTRE_SAMPLES = (WINDOW_SAMPLES + PITCH_RATE_HZ / 165) >> 1;

/** Enough that no lag's product wraps round. */
const TRANSFORM_SAMPLES = 512;

/**
 * The cumulative mean normalised difference of one frame at a time (de Cheveigné and Kawahara, "YIN, a fundamental
 * frequency estimator for speech and music", 2002), through Fourier transforms.
 */
class Yin {
  /** Cumulative mean normalised difference of each lag. */
  readonly normalised = new Float64Array(LAGS);
  readonly #span = new Float64Array(TRANSFORM_SAMPLES);
  readonly #window = new Float64Array(TRANSFORM_SAMPLES);
  readonly #products = new Float64Array(TRANSFORM_SAMPLES);
  readonly #fourier = new RealFourier(TRANSFORM_SAMPLES);
  readonly #spanR = new Float64Array(this.#fourier.bins);
  readonly #spanI = new Float64Array(this.#fourier.bins);
  readonly #windowR = new Float64Array(this.#fourier.bins);
  readonly #windowI = new Float64Array(this.#fourier.bins);

  /** Fills `normalised` for the window that begins at `start`, and gives the window's level. */
  measure(signal: Float64Array, start: number): number {
    this.#copy(signal, start);
    this.#correlate();
    const span = this.#span;
    let windowEnergy = 0;
    for (let i = 0; i < WINDOW_SAMPLES; i++) windowEnergy += span[i]! * span[i]!;
    let laggedEnergy = windowEnergy;
    let sum = 0;
    this.normalised[0] = 1;
    for (let lag = 1; lag < LAGS; lag++) {
      laggedEnergy += span[lag + WINDOW_SAMPLES - 1]! ** 2 - span[lag - 1]! ** 2;
      const difference = Math.max(0, windowEnergy + laggedEnergy - 2 * this.#products[lag]!);
      sum += difference;
      this.normalised[lag] = sum > 0 ? (difference * lag) / sum : 1;
    }
    return Math.sqrt(windowEnergy / WINDOW_SAMPLES);
  }

  /** The window and what the lags reach behind it, without their mean. Beyond the signal's ends lies silence. */
  #copy(signal: Float64Array, start: number): void {
    const span = this.#span;
    const length = WINDOW_SAMPLES + LAGS - 1;
    let sum = 0;
    for (let i = 0; i < length; i++) {
      const at = start + i;
      const value = at >= 0 && at < signal.length ? signal[at]! : 0;
      span[i] = value;
      sum += value;
    }
    const mean = sum / length;
    for (let i = 0; i < length; i++) span[i] = span[i]! - mean;
    this.#window.set(span.subarray(0, WINDOW_SAMPLES));
  }

  /** Products of the window with what lies each lag behind it. */
  #correlate(): void {
    this.#fourier.forward(this.#span, this.#spanR, this.#spanI);
    this.#fourier.forward(this.#window, this.#windowR, this.#windowI);
    for (let k = 0; k < this.#fourier.bins; k++) {
      const spanR = this.#spanR[k]!;
      const spanI = this.#spanI[k]!;
      const windowR = this.#windowR[k]!;
      const windowI = this.#windowI[k]!;
      this.#spanR[k] = spanR * windowR + spanI * windowI;
      this.#spanI[k] = spanI * windowR - spanR * windowI;
    }
    this.#fourier.inverse(this.#spanR, this.#spanI, this.#products);
  }
}
