import { designLowPass, type PhaseTable, product } from "./low-pass.ts";
import { LruCache } from "./lru-cache.ts";
import { joinSamples } from "./pcm.ts";

/**
 * Converts between integer sample rates with a Kaiser-windowed sinc, one row of coefficients a phase (Crochiere and
 * Rabiner, "Multirate Digital Signal Processing", 1983). Level to 0.9 of the lower Nyquist frequency, and 70 dB down
 * from that frequency on, so nothing folds back. No delay: output sample k lies at input time k · fromHz / toHz, and
 * what lies beyond the ends counts as silence.
 *
 * Gives round(samples.length · toHz / fromHz) samples in a new array. Linear time.
 */
export function resample(samples: Float32Array, fromHz: number, toHz: number): Float32Array {
  if (fromHz === toHz) return samples.slice();
  const resampler = new Resampler(fromHz, toHz);
  return joinSamples([resampler.push(samples), resampler.end()]);
}

/**
 * The same as the samples come, in pieces of any size: all that it gives, joined, is what {@link resample} gives of all
 * that went in, bit for bit. Half a filter is held back until more comes or the end.
 */
export class Resampler {
  readonly #ratio: number;
  readonly #step: number;
  readonly #phases: number;
  readonly #table: PhaseTable;
  /** Input that is still needed, at first the silence before the beginning. Its first sample is number `#keptFrom`. */
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

  /** What the samples so far are enough for; may be empty. */
  push(samples: Float32Array | Int16Array): Float32Array {
    this.#received += samples.length;
    return this.#convert(samples, Number.POSITIVE_INFINITY);
  }

  /** The rest, once, so that there are `count` in all: as long as the input unless told otherwise. */
  end(count = Math.round(this.#received * this.#ratio)): Float32Array {
    const { taps } = this.#table;
    return this.#convert(new Float32Array(taps + Math.ceil(this.#step / this.#phases)), count);
  }

  /** Every output that the input reaches, up to `max` of all outputs. */
  #convert(samples: Float32Array | Int16Array, max: number): Float32Array {
    const { taps } = this.#table;
    const input = new Float64Array(this.#kept.length + samples.length);
    input.set(this.#kept);
    input.set(samples, this.#kept.length);
    // Output k begins at the input `startOf(k)`, and needs `taps` of it.
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
 * Every `count` samples as their mean, and what is left over dropped: for rates so high that nothing of speech is near the
 * frequencies that fold back. Linear time, in a new array.
 */
export function averaged(samples: Float32Array, count: number): Float32Array {
  const means = new Float32Array(Math.floor(samples.length / count));
  for (let at = 0, from = 0; at < means.length; at += 1) {
    let sum = 0;
    for (const to = from + count; from < to; from += 1) sum += samples[from]!;
    means[at] = sum / count;
  }
  return means;
}

/** Outputs that share a phase, and so a row of coefficients: computing them together halves the loads. */
const TOGETHER = 8;

/** Filters by their rates: to design one takes a millisecond or two. */
const filters = new LruCache<PhaseTable>(8);

/** Adds as {@link product} does, so that an output is the same in company and alone. */
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

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
