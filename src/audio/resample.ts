import { designLowPass, type PhaseTable, product } from "./low-pass.ts";
import { LruCache } from "./lru-cache.ts";
import { joinSamples } from "./pcm.ts";

/**
 * Converts between integer sample rates with a Kaiser-windowed sinc, one row of coefficients per phase (Crochiere and
 * Rabiner, "Multirate Digital Signal Processing", 1983). Flat to 0.9 of the lower Nyquist frequency, 70 dB down from
 * that frequency on, so nothing aliases. No delay: output sample k lies at input time k · fromHz / toHz; samples
 * beyond the ends count as silence.
 *
 * Returns round(samples.length · toHz / fromHz) samples in a new array. Linear time.
 */
export function resample(samples: Float32Array, fromHz: number, toHz: number): Float32Array {
  if (fromHz === toHz) return samples.slice();
  const resampler = new Resampler(fromHz, toHz);
  return joinSamples([resampler.push(samples), resampler.end()]);
}

/**
 * Streaming {@link resample}: the concatenated output is bit-identical for chunks of any size. Half a filter is held
 * back until more input or the end.
 */
export class Resampler {
  readonly #ratio: number;
  readonly #step: number;
  readonly #phases: number;
  readonly #table: PhaseTable;
  /** Input that is still needed, at first the silence before the beginning; starts at input sample `#keptFrom`. */
  #kept: Float64Array;
  #keptFrom: number;
  #received = 0;
  #given = 0;

  constructor(fromHz: number, toHz: number) {
    const divisor = greatestCommonDivisor(fromHz, toHz);
    this.#ratio = toHz / fromHz;
    this.#step = fromHz / divisor;
    this.#phases = toHz / divisor;
    this.#table = tableFor(fromHz, toHz, this.#phases);
    this.#kept = new Float64Array(this.#table.taps / 2 - 1);
    this.#keptFrom = -this.#kept.length;
  }

  /** Returns the outputs that the input so far allows; may be empty. */
  push(samples: Float32Array | Int16Array): Float32Array {
    this.#received += samples.length;
    return this.#convert(samples, Number.POSITIVE_INFINITY);
  }

  /** Returns the remaining outputs, once, for `count` outputs in all. Default: the input's duration. */
  end(count = Math.round(this.#received * this.#ratio)): Float32Array {
    const { taps } = this.#table;
    return this.#convert(new Float32Array(taps + Math.ceil(this.#step / this.#phases)), count);
  }

  /** Computes every output within reach of the input, up to `max` outputs in all. */
  #convert(samples: Float32Array | Int16Array, max: number): Float32Array {
    const { taps } = this.#table;
    const input = new Float64Array(this.#kept.length + samples.length);
    input.set(this.#kept);
    input.set(samples, this.#kept.length);
    // Output k starts at input `startOf(k)` and needs `taps` samples.
    const origin = -(taps / 2 - 1) - this.#keptFrom;
    const startOf = (k: number): number => Math.floor((k * this.#step) / this.#phases) + origin;
    const reached = Math.ceil(((input.length - taps - origin + 1) * this.#phases) / this.#step);
    const until = Math.min(max, Math.max(this.#given, reached));
    const output = new Float32Array(Math.max(0, until - this.#given));
    if (this.#table.isExact) this.#convertExactly(input, output, startOf);
    else this.#convertBetweenPhases(input, output, startOf);
    this.#given += output.length;
    const past = Math.max(0, Math.min(startOf(this.#given), input.length));
    this.#kept = input.slice(past);
    this.#keptFrom += past;
    return output;
  }

  #convertExactly(input: Float64Array, output: Float32Array, startOf: (k: number) => number): void {
    const { taps, rows } = this.#table;
    const [step, phases] = [this.#step, this.#phases];
    const group = TOGETHER * phases;
    for (let first = 0; first < output.length; first += group) {
      const last = Math.min(output.length, first + phases);
      for (let at = first; at < last; at += 1) {
        const k = this.#given + at;
        const start = startOf(k);
        const row = (((k * step) % phases) * taps) | 0;
        if (at + group - phases < output.length) {
          eightProducts(output, at, phases, rows, row, taps, input, start, step);
        } else {
          for (let n = 0; at + n * phases < output.length; n += 1) {
            output[at + n * phases] = product(rows, row, taps, input, start + n * step);
          }
        }
      }
    }
  }

  #convertBetweenPhases(input: Float64Array, output: Float32Array, startOf: (k: number) => number): void {
    const { taps, rows } = this.#table;
    const rowCount = rows.length / taps - 1;
    for (let at = 0; at < output.length; at += 1) {
      const k = this.#given + at;
      const start = startOf(k);
      const phase = (((k * this.#step) % this.#phases) / this.#phases) * rowCount;
      const below = Math.floor(phase);
      const share = phase - below;
      const low = product(rows, below * taps, taps, input, start);
      const high = product(rows, (below + 1) * taps, taps, input, start);
      output[at] = low + share * (high - low);
    }
  }
}

/**
 * Averages every `count` samples and drops the remainder: for rates so high that speech has nothing near the
 * frequencies that alias. Linear time, in a new array.
 */
export function averageEvery(samples: Float32Array, count: number): Float32Array {
  const means = new Float32Array(Math.floor(samples.length / count));
  for (let at = 0, from = 0; at < means.length; at += 1) {
    let sum = 0;
    for (const to = from + count; from < to; from += 1) sum += samples[from]!;
    means[at] = sum / count;
  }
  return means;
}

/** Outputs with the same phase share a row of coefficients: computing eight together halves the loads. */
const TOGETHER = 8;

/** Filters by rates; designing one takes 1 to 2 ms. */
const filters = new LruCache<PhaseTable>(8);

/** Sums in the order of {@link product}, so that an output does not depend on how it was computed. */
function eightProducts(
  output: Float32Array,
  k: number,
  phases: number,
  rows: Float64Array,
  row: number,
  taps: number,
  input: Float64Array,
  start: number,
  step: number,
): void {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let e = 0;
  let f = 0;
  let g = 0;
  let h = 0;
  for (let i = row, x = start; i < row + taps; i += 1, x += 1) {
    const weight = rows[i]!;
    a += weight * input[x]!;
    b += weight * input[x + step]!;
    c += weight * input[x + 2 * step]!;
    d += weight * input[x + 3 * step]!;
    e += weight * input[x + 4 * step]!;
    f += weight * input[x + 5 * step]!;
    g += weight * input[x + 6 * step]!;
    h += weight * input[x + 7 * step]!;
  }
  output[k] = a;
  output[k + phases] = b;
  output[k + 2 * phases] = c;
  output[k + 3 * phases] = d;
  output[k + 4 * phases] = e;
  output[k + 5 * phases] = f;
  output[k + 6 * phases] = g;
  output[k + 7 * phases] = h;
}

function tableFor(fromHz: number, toHz: number, phases: number): PhaseTable {
  const rates = `${fromHz}:${toHz}`;
  const table = filters.get(rates) ?? designLowPass(fromHz, toHz, phases);
  filters.set(rates, table);
  return table;
}

export function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
