import { RealFourier } from "./fourier.ts";

const FRAME = 400;
const HOP = 160;
const RATE_HZ = 16_000;

/**
 * Log-mel spectra of Whisper ("Robust Speech Recognition via Large-Scale Weak Supervision", 2022, section 2.2): Hann
 * windows of 25 ms every 10 ms, both ends mirrored; limited to 8 decades below the loudest, then (x + 4) / 4. An
 * instance holds tables and working space.
 */
export class LogMel {
  readonly mels: number;
  /** Without the zeros around each. */
  readonly #filters: readonly { readonly first: number; readonly weights: Float32Array }[];
  readonly #fourier = new RealFourier(FRAME);
  readonly #window = Float64Array.from(
    { length: FRAME },
    (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / FRAME),
  );
  readonly #frame = new Float64Array(FRAME);
  readonly #powers = new Float64Array(FRAME / 2 + 1);

  constructor(mels: number) {
    this.mels = mels;
    const all = melFilters(mels, FRAME, RATE_HZ);
    this.#filters = Array.from({ length: mels }, (_, mel) => {
      const filter = all.subarray(mel * this.#powers.length, (mel + 1) * this.#powers.length);
      const first = Math.max(0, filter.findIndex(Boolean));
      return { first, weights: filter.subarray(first, filter.findLastIndex(Boolean) + 1) };
    });
  }

  /**
   * @param samples at 16 kHz, 201 at least
   * @returns [mels, floor(samples.length / 160)], row-major
   */
  of(samples: Float32Array): Float32Array<ArrayBuffer> {
    const frames = Math.floor(samples.length / HOP);
    const spectra = new Float32Array(this.mels * frames);
    let max = Number.NEGATIVE_INFINITY;
    // Padding before the sound: frames within it are equal.
    const padding = samples.findIndex((sample) => sample !== samples[0]);
    for (let at = 0; at < frames; at += 1) {
      if (at > 0 && at * HOP + FRAME / 2 <= padding) {
        for (let row = 0; row < spectra.length; row += frames) spectra[row + at] = spectra[row]!;
        continue;
      }
      this.#fill(samples, at * HOP - FRAME / 2);
      this.#fourier.powers(this.#frame, this.#powers);
      for (let mel = 0; mel < this.mels; mel += 1) {
        const value = Math.log10(Math.max(1e-10, this.#energy(mel)));
        spectra[mel * frames + at] = value;
        if (value > max) max = value;
      }
    }
    for (let i = 0; i < spectra.length; i += 1) spectra[i] = (Math.max(spectra[i]!, max - 8) + 4) / 4;
    return spectra;
  }

  #fill(samples: Float32Array, from: number): void {
    const last = samples.length - 1;
    for (let n = 0; n < FRAME; n += 1) {
      const at = Math.abs(from + n);
      this.#frame[n] = samples[at > last ? 2 * last - at : at]! * this.#window[n]!;
    }
  }

  #energy(mel: number): number {
    const { first, weights } = this.#filters[mel]!;
    let sum = 0;
    for (let at = 0; at < weights.length; at += 1) sum += weights[at]! * this.#powers[first + at]!;
    return sum;
  }
}

/**
 * Triangular filters on the mel scale of Slaney's "Auditory Toolbox" (1998), from 0 Hz to half the rate, each with an
 * area of one: `librosa.filters.mel(sr=rateHz, n_fft=size, n_mels=mels)`.
 *
 * @returns [mels, size / 2 + 1], row-major
 */
export function melFilters(mels: number, size: number, rateHz: number): Float32Array {
  const top = toMel(rateHz / 2);
  const edgesHz = Array.from({ length: mels + 2 }, (_, at) => toHz((top * at) / (mels + 1)));
  const bins = size / 2 + 1;
  const filters = new Float32Array(mels * bins);
  for (let mel = 0; mel < mels; mel++) {
    const [low, peak, high] = [edgesHz[mel]!, edgesHz[mel + 1]!, edgesHz[mel + 2]!];
    for (let bin = 0; bin < bins; bin++) {
      const hz = (bin * rateHz) / size;
      const height = Math.min((hz - low) / (peak - low), (high - hz) / (high - peak));
      filters[mel * bins + bin] = (Math.max(0, height) * 2) / (high - low);
    }
  }
  return filters;
}

/** Linear up to 1000 Hz, then logarithmic: 27 steps to 6400 Hz. */
const LINEAR_HZ = 200 / 3;
const CORNER_HZ = 1_000;
const CORNER_MEL = CORNER_HZ / LINEAR_HZ;
const LOG_STEP = Math.log(6.4) / 27;

function toMel(hz: number): number {
  return hz < CORNER_HZ ? hz / LINEAR_HZ : CORNER_MEL + Math.log(hz / CORNER_HZ) / LOG_STEP;
}

function toHz(mel: number): number {
  return mel < CORNER_MEL ? mel * LINEAR_HZ : CORNER_HZ * Math.exp(LOG_STEP * (mel - CORNER_MEL));
}
