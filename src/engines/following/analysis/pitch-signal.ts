import { resampled } from "./resampled.ts";
import type { Work } from "./work.ts";

/** The rate at which pitch is looked for, in hertz. */
export const PITCH_RATE_HZ = 8_000;

/**
 * The part of a signal that pitch is looked for in: at {@link PITCH_RATE_HZ}, without what lies above 1 kHz. A
 * sample that is no number or absurdly loud counts as silence, and so does one that is too quiet to be meant.
 */
export function* pitchSignal(samples: Float32Array, sampleRateHz: number): Work<Float64Array> {
  const clean = new Float32Array(samples.length);
  for (let from = 0; from < samples.length; from += CLEANED_AT_ONCE) {
    clean.set(samples.subarray(from, from + CLEANED_AT_ONCE).map(cleaned), from);
    yield;
  }
  return yield* lowPassed(yield* resampled(clean, sampleRateHz, PITCH_RATE_HZ));
}

const CLEANED_AT_ONCE = 1 << 15;
const MIN_AMPLITUDE = 1e-9;
const MAX_AMPLITUDE = 1e6;

function cleaned(sample: number): number {
  const size = Math.abs(sample);
  return size >= MIN_AMPLITUDE && size <= MAX_AMPLITUDE ? sample : 0;
}

const CUTOFF_HZ = 1_000;
/** Taps on either side of the middle one. */
const REACH = 32;
const FILTERED_AT_ONCE = 1 << 13;

/** A windowed-sinc filter without delay; what lies beyond the ends counts as silence. */
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

/** The middle tap and those on one side of it, under a Hamming window. The gain at 0 Hz is 1. */
function lowPassTaps(): Float64Array {
  const taps = Float64Array.from({ length: REACH + 1 }, (_, i) => {
    const angle = (2 * Math.PI * CUTOFF_HZ * i) / PITCH_RATE_HZ;
    return (i === 0 ? 1 : Math.sin(angle) / angle) * (0.54 + 0.46 * Math.cos((Math.PI * i) / REACH));
  });
  const sum = taps.reduce((total, tap) => total + 2 * tap, -taps[0]!);
  return taps.map((tap) => tap / sum);
}
