import { designLowPass, type PhaseTable, product } from "./low-pass.ts";

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
  const divisor = greatestCommonDivisor(fromHz, toHz);
  const step = fromHz / divisor;
  const phases = toHz / divisor;
  const table = designLowPass(fromHz, toHz, phases);
  const output = new Float32Array(Math.round((samples.length * toHz) / fromHz));
  const input = padded(samples, table.taps, step, phases);
  if (table.isExact) convertExactly(input, output, table, step, phases);
  else convertBetweenPhases(input, output, table, step, phases);
  return output;
}

/** Outputs that share a phase, and so a row of coefficients: computing them together halves the loads. */
const TOGETHER = 8;

/** Zeros before, so that no index is negative, and behind, so that the last output has all its taps. */
function padded(samples: Float32Array, taps: number, step: number, phases: number): Float64Array {
  const input = new Float64Array(taps / 2 - 1 + samples.length + taps + Math.ceil(step / phases));
  input.set(samples, taps / 2 - 1);
  return input;
}

function convertExactly(
  input: Float64Array,
  output: Float32Array,
  table: PhaseTable,
  step: number,
  phases: number,
): void {
  const { taps, rows } = table;
  const group = TOGETHER * phases;
  for (let first = 0; first < output.length; first += group) {
    for (let phase = 0; phase < phases; phase += 1) {
      const k = first + phase;
      const start = Math.floor((k * step) / phases);
      const row = (((phase * step) % phases) * taps) | 0;
      if (k + group - phases < output.length) {
        eightProducts(output, k, phases, rows, row, taps, input, start, step);
      } else {
        for (let n = 0; k + n * phases < output.length; n += 1) {
          output[k + n * phases] = product(rows, row, taps, input, start + n * step);
        }
      }
    }
  }
}

function convertBetweenPhases(
  input: Float64Array,
  output: Float32Array,
  table: PhaseTable,
  step: number,
  phases: number,
): void {
  const { taps, rows } = table;
  const rowCount = rows.length / taps - 1;
  for (let k = 0; k < output.length; k += 1) {
    const position = k * step;
    const start = Math.floor(position / phases);
    const phase = ((position % phases) / phases) * rowCount;
    const below = Math.floor(phase);
    const share = phase - below;
    const low = product(rows, below * taps, taps, input, start);
    const high = product(rows, (below + 1) * taps, taps, input, start);
    output[k] = low + share * (high - low);
  }
}

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

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
