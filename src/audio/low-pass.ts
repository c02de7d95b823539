import { SAMPLE_RATE_HZ } from "./format.ts";
/** Rows of filter coefficients, one per position of an output between two input samples. */
export interface PhaseTable {
  /** Coefficients in a row, even. Row p is for outputs at p / phases after the row's tap taps/2 − 1. */
  readonly taps: number;
  /** Row after row. One row more than there are phases if the table is to be interpolated. */
  readonly rows: Float64Array;
  /** False if the rates have more phases than the table: interpolate between two rows. */
  readonly isExact: boolean;
}

/**
 * Designs a low-pass for converting between two rates with `phases` different offsets: flat to 0.9 of the lower
 * Nyquist frequency, 75 dB down from it on (Kaiser, "Nonrecursive digital filter design using the I0-sinh window
 * function", 1974). Each row sums to 1. The table is at most a few megabytes for any pair of rates.
 */
export function designLowPass(fromHz: number, toHz: number, phases: number): PhaseTable {
  const nyquist = Math.min(fromHz, toHz) / 2 / fromHz;
  const transition = (1 - PASS_EDGE) * nyquist;
  const taps = 2 * Math.ceil((ATTENUATION_DB - 7.95) / (14.36 * transition) / 2);
  const cutoff = ((1 + PASS_EDGE) / 2) * nyquist;
  const isExact = phases * taps <= MAX_COEFFICIENTS;
  const rowPhases = isExact ? phases : INTERPOLATED_PHASES;
  const rows = new Float64Array((isExact ? phases : INTERPOLATED_PHASES + 1) * taps);
  for (let row = 0; row * taps < rows.length; row += 1) {
    fillRow(rows.subarray(row * taps, (row + 1) * taps), row / rowPhases, cutoff, betaFor(ATTENUATION_DB));
  }
  return { taps, rows, isExact };
}

/**
 * Designs one such low-pass around its middle: an odd number of taps that sum to 1.
 *
 * @param cutoff frequency with half the amplitude, as a fraction of the sample rate
 * @param attenuationDb beyond the transition, which is (attenuationDb - 7.95) / (14.36 · taps) of the sample rate
 * wide
 */
export function kaiserLowPass(taps: number, cutoff: number, attenuationDb: number): Float64Array {
  const row = new Float64Array(taps + 1);
  fillRow(row, 0, cutoff, betaFor(attenuationDb));
  return row.subarray(0, taps);
}

const PASS_EDGE = 0.9;
const ATTENUATION_DB = 75;
const MAX_COEFFICIENTS = 1 << 18;

/** Linear interpolation between this many phases errs by (π / 256)² / 8 at most: 94 dB down. */
const INTERPOLATED_PHASES = 256;

function fillRow(row: Float64Array, offset: number, cutoff: number, beta: number): void {
  const half = row.length / 2;
  let sum = 0;
  for (let i = 0; i < row.length; i += 1) {
    const distance = i - (half - 1) - offset;
    const position = distance / half;
    const kaiser = besselI0(beta * Math.sqrt(Math.max(0, 1 - position * position)));
    const value = sinc(2 * cutoff * distance) * kaiser;
    row[i] = value;
    sum += value;
  }
  for (let i = 0; i < row.length; i += 1) row[i]! /= sum;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function betaFor(attenuationDb: number): number {
  return 0.1102 * (attenuationDb - 8.7);
}

/** Modified Bessel function of the first kind, order zero, by its power series. */
function besselI0(x: number): number {
  let sum = 1;
  let term = 1;
  for (let n = 1; term > 1e-12 * sum; n += 1) {
    term *= (x / (2 * n)) ** 2;
    sum += term;
  }
  return sum;
}

/** Returns the dot product of a table row and the input from `start` on. */
export function product(
  rows: Float64Array,
  row: number,
  taps: number,
  input: Float64Array,
  start: number,
): number {
  let sum = 0;
  for (let i = 0; i < taps; i += 1) sum += rows[row + i]! * input[start + i]!;
  return sum;
}

/**
 * Streaming low-pass without look-ahead (Butterworth of order eight by the bilinear transform; Oppenheim & Schafer,
 * "Discrete-Time Signal Processing", 7.2). 20 dB down at 1.3 times the cutoff.
 */
export class ButterworthLowPass {
  readonly #sections: readonly Section[];

  /** @param cutoffHz 3 dB down; below 12 kHz */
  constructor(cutoffHz: number) {
    const warped = Math.tan((Math.PI * cutoffHz) / SAMPLE_RATE_HZ);
    this.#sections = Array.from({ length: ORDER / 2 }, (_, at) => {
      const damping = 2 * Math.sin((Math.PI * (2 * at + 1)) / (2 * ORDER));
      const scale = 1 / (1 + damping * warped + warped ** 2);
      return {
        gain: warped ** 2 * scale,
        feedback: [2 * (warped ** 2 - 1) * scale, (1 - damping * warped + warped ** 2) * scale] as const,
        memory: new Float64Array(4),
      };
    });
  }

  /** Filters the samples in place. */
  apply(samples: Float32Array): void {
    for (const { gain, feedback, memory } of this.#sections) {
      let x1 = memory[0]!;
      let x2 = memory[1]!;
      let y1 = memory[2]!;
      let y2 = memory[3]!;
      for (let at = 0; at < samples.length; at++) {
        const x = samples[at]!;
        const y = gain * (x + 2 * x1 + x2) - feedback[0] * y1 - feedback[1] * y2;
        x2 = x1;
        x1 = x;
        y2 = y1;
        y1 = y;
        samples[at] = y;
      }
      memory.set([x1, x2, y1, y2]);
    }
  }
}

const ORDER = 8;

interface Section {
  readonly gain: number;
  /** Coefficients of the outputs one and two samples ago. */
  readonly feedback: readonly [number, number];
  /** Inputs and outputs one and two samples ago. */
  readonly memory: Float64Array;
}
