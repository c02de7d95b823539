import { RealFourier } from "../../../audio/fourier.ts";
import { PITCH_RATE_HZ } from "./pitch-signal.ts";

/** The range in which pitch is looked for, in hertz. */
export const LOWEST_HZ = 55;
export const HIGHEST_HZ = 500;

/** 30 ms. */
const WINDOW_SAMPLES = 0.03 * PITCH_RATE_HZ;
/** Lags that are periods within the range, in samples. */
export const MIN_LAG = Math.floor(PITCH_RATE_HZ / HIGHEST_HZ);
export const MAX_LAG = Math.ceil(PITCH_RATE_HZ / LOWEST_HZ);
/** A dip has a neighbour on either side. */
const LAGS = MAX_LAG + 2;

/** What a window is compared with lies a lag behind it: the middle of both, for the lag of 165 Hz. */
export const WINDOW_CENTRE_SAMPLES = (WINDOW_SAMPLES + PITCH_RATE_HZ / 165) >> 1;

/** Enough that no lag's product wraps round. */
const TRANSFORM_SAMPLES = 512;

/**
 * The cumulative mean normalised difference of one frame at a time (de Cheveigné and Kawahara, "YIN, a fundamental
 * frequency estimator for speech and music", 2002), through Fourier transforms.
 */
export class Yin {
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
