import { SAMPLE_RATE_HZ } from "./format.ts";
import { kaiserLowPass, product } from "./low-pass.ts";

/** Highest true peak: -1 dBTP, less what meters differ by. */
const CEILING = 10 ** (-1.75 / 20);

/** Samples that the gain falls before a peak (5 ms), and how far it recovers in a sample (time constant 80 ms). */
const AHEAD = 120;
const RECOVERY = 1 / (0.08 * SAMPLE_RATE_HZ);

/** Four-fold oversampling (ITU-R BS.1770-5, annex 2): the filter's taps per phase, and a row per phase but the first. */
const TAPS = 24;
const BEFORE = TAPS / 2 - 1;
const FILTER = kaiserLowPass(4 * TAPS - 1, 1 / 8, 50);
const ROWS = Float64Array.from({ length: 3 * TAPS }, (_, at) => {
  return 4 * FILTER[2 * TAPS + Math.floor(at / TAPS) - 4 * ((at % TAPS) - BEFORE)]!;
});
/** Most that a peak between samples exceeds them by: the sum of the middle row's sizes. */
const MAX_OVERSHOOT = ROWS.subarray(TAPS, 2 * TAPS).reduce((sum, tap) => sum + Math.abs(tap), 0);
/** Samples that are looked at together before any is oversampled. */
const BLOCK = 16;

/**
 * Keeps the true peak of a signal at 24 kHz under -1 dBTP by a smooth gain that falls before a peak. Samples are held
 * back until the next ones are pushed, at least 150 of them unless they are the last.
 */
export class PeakLimiter {
  #held = new Float32Array(0);
  /** Samples before the held ones. */
  #before = new Float64Array(BEFORE + 1);
  /** Gains before smoothing: those of the last samples; `null` at the beginning. */
  #gains: Float64Array | null = null;

  /** Takes samples, of which it becomes the owner, and returns those taken before: `null` ends the signal. */
  push(next: Float32Array<ArrayBuffer> | null): Float32Array {
    const samples = this.#held;
    this.#held = next ?? new Float32Array(0);
    if (samples.length === 0) return samples;
    const signal = new Float64Array(this.#before.length + samples.length + AHEAD + TAPS);
    signal.set(this.#before);
    signal.set(samples, this.#before.length);
    signal.set(this.#held.subarray(0, AHEAD + TAPS), this.#before.length + samples.length);
    this.#before = signal.slice(samples.length, samples.length + this.#before.length);
    const needed = neededGains(signal, samples.length + AHEAD + 1);
    const gains = new Float64Array(AHEAD + samples.length);
    gains.set(this.#gains ?? new Float64Array(AHEAD).fill(needed[lowestOf(needed, 0, AHEAD)]!));
    let sum = gains.reduce((total, gain) => total + gain);
    let lowest = -1;
    for (let n = 0; n < samples.length; n++) {
      if (lowest < n) lowest = lowestOf(needed, n, n + AHEAD);
      else if (needed[n + AHEAD]! <= needed[lowest]!) lowest = n + AHEAD;
      const before = gains[AHEAD + n - 1]!;
      gains[AHEAD + n] = Math.min(needed[lowest]!, before + (1 - before) * RECOVERY);
      sum += gains[AHEAD + n]! - gains[n]!;
      samples[n]! *= sum / AHEAD;
    }
    this.#gains = gains.slice(samples.length);
    return samples;
  }
}

/** Returns the gain that each sample needs for the peaks at and around it. */
function neededGains(signal: Float64Array, count: number): Float64Array {
  const needed = new Float64Array(count + BLOCK).fill(1);
  // From the interval before the first sample on; sample n is at n + BEFORE + 1.
  for (let from = -1; from < count; from += BLOCK) {
    let largest = 0;
    for (let at = from + 1; at < from + BLOCK + TAPS; at++)
      largest = Math.max(largest, Math.abs(signal[at] ?? 0));
    if (largest * MAX_OVERSHOOT <= CEILING) continue;
    for (let n = from; n < Math.min(from + BLOCK, count); n++) {
      let peak = Math.abs(signal[n + BEFORE + 1]!);
      for (let row = 0; row < ROWS.length; row += TAPS)
        peak = Math.max(peak, Math.abs(product(ROWS, row, TAPS, signal, n + 1)));
      const gain = Math.min(1, CEILING / peak);
      if (n >= 0) needed[n] = Math.min(needed[n]!, gain);
      needed[n + 1] = Math.min(needed[n + 1]!, gain);
    }
  }
  return needed;
}

function lowestOf(values: Float64Array, from: number, to: number): number {
  let lowest = from;
  for (let at = from; at <= to; at++) if (values[at]! <= values[lowest]!) lowest = at;
  return lowest;
}
