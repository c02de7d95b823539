import { RealFourier } from "../../../audio/fourier.ts";
import { MIN_AMPLITUDE, mapSamples, resampled } from "./best-excerpt.ts";
import type { Work } from "./work.ts";

export const PITCH_RATE_HZ = 8_000;

/** Pitch candidates. Candidate c of frame n is at n · {@link MAX_CANDIDATES} + c. */
export interface PitchCandidates {
  readonly counts: Uint8Array;
  readonly pitchHz: Float32Array;
  /** Normalised difference at each candidate, 0 where the signal repeats exactly. */
  readonly difference: Float32Array;
  /** RMS of each frame's window, without its mean. */
  readonly level: Float32Array;
}

/** In noise the true period of a high pitch is one of many similar multiples: enough for all of 440 Hz. */
export const MAX_CANDIDATES = 8;

/**
 * Finds the dips of YIN's normalised difference, deepest first, each at the vertex of a parabola.
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

/** 100 dB below full scale: the rest is rounding. */
const SILENT_LEVEL = 1e-5;

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

export const MIN_PITCH_HZ = 55;
export const MAX_PITCH_HZ = 500;

/** 30 ms. */
const WINDOW_SAMPLES = 0.03 * PITCH_RATE_HZ;
/** Periods within the range, in samples. */
const MIN_LAG = Math.floor(PITCH_RATE_HZ / MAX_PITCH_HZ);
const MAX_LAG = Math.ceil(PITCH_RATE_HZ / MIN_PITCH_HZ);
/** Dips need a neighbour on either side. */
const LAGS = MAX_LAG + 2;

/** A window is compared with one that is a lag later: the middle of both, for the lag of 165 Hz. */
const WINDOW_CENTRE_SAMPLES = (WINDOW_SAMPLES + PITCH_RATE_HZ / 165) >> 1;

/** Long enough that no lag wraps around. */
const TRANSFORM_SAMPLES = 512;

/**
 * YIN's cumulative mean normalised difference of one frame at a time (de Cheveigné and Kawahara, "YIN, a fundamental
 * frequency estimator for speech and music", 2002), by Fourier transforms.
 */
class Yin {
  readonly normalised = new Float64Array(LAGS);
  readonly #span = new Float64Array(TRANSFORM_SAMPLES);
  readonly #window = new Float64Array(TRANSFORM_SAMPLES);
  readonly #products = new Float64Array(TRANSFORM_SAMPLES);
  readonly #fourier = new RealFourier(TRANSFORM_SAMPLES);
  readonly #spanR = new Float64Array(this.#fourier.bins);
  readonly #spanI = new Float64Array(this.#fourier.bins);
  readonly #windowR = new Float64Array(this.#fourier.bins);
  readonly #windowI = new Float64Array(this.#fourier.bins);

  /** Fills `normalised` for the window at `start`. @returns the window's level */
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

  /** Copies the window and its lags, without their mean. Outside the signal is silence. */
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

  /** Correlates the window with the signal at each lag. */
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

/**
 * Returns the signal at {@link PITCH_RATE_HZ} without what is above 1 kHz. Samples that are not finite, absurdly loud
 * or too quiet to be meant become 0.
 */
export function* pitchSignal(samples: Float32Array, sampleRateHz: number): Work<Float64Array> {
  const finite = yield* mapSamples(samples, finiteSample);
  return yield* lowPassed(yield* resampled(finite, sampleRateHz, PITCH_RATE_HZ));
}

const MAX_AMPLITUDE = 1e6;

function finiteSample(sample: number): number {
  const size = Math.abs(sample);
  return size >= MIN_AMPLITUDE && size <= MAX_AMPLITUDE ? sample : 0;
}

const CUTOFF_HZ = 1_000;
/** Taps on either side of the middle one. */
const REACH = 32;
const FILTERED_AT_ONCE = 1 << 13;

/** A windowed-sinc filter without delay. Outside the signal is silence. */
function* lowPassed(input: Float32Array): Work<Float64Array> {
  const taps = lowPassTaps();
  const padded = new Float64Array(input.length + 2 * REACH);
  padded.set(input, REACH);
  const output = new Float64Array(input.length);
  for (let from = 0; from < output.length; from += FILTERED_AT_ONCE) {
    const to = Math.min(output.length, from + FILTERED_AT_ONCE);
    for (let n = from; n < to; n++) output[n] = symmetricProduct(taps, padded, n + REACH);
    yield;
  }
  return output;
}

function symmetricProduct(taps: Float64Array, input: Float64Array, middle: number): number {
  let sum = taps[0]! * input[middle]!;
  for (let i = 1; i <= REACH; i++) sum += taps[i]! * (input[middle - i]! + input[middle + i]!);
  return sum;
}

/** Returns the middle tap and those on one side, under a Hamming window. The gain at 0 Hz is 1. */
function lowPassTaps(): Float64Array {
  const taps = Float64Array.from({ length: REACH + 1 }, (_, i) => {
    const angle = (2 * Math.PI * CUTOFF_HZ * i) / PITCH_RATE_HZ;
    return (i === 0 ? 1 : Math.sin(angle) / angle) * (0.54 + 0.46 * Math.cos((Math.PI * i) / REACH));
  });
  const sum = taps.reduce((total, tap) => total + 2 * tap, -taps[0]!);
  return taps.map((tap) => tap / sum);
}
