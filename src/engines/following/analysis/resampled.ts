import { resample } from "../../../audio/resample.ts";
import type { Work } from "./work.ts";

/**
 * What {@link resample} gives, up to rounding, in pieces of half a second and less. A piece begins where an output lies on an
 * input sample, and is converted with what lies around it. Rates with no such place within a piece (44101 Hz) cost
 * three times as much.
 */
export function* resampled(samples: Float32Array, fromHz: number, toHz: number): Work<Float32Array> {
  const output = new Float32Array(Math.round((samples.length * toHz) / fromHz));
  const meetingsHz = greatestCommonDivisor(fromHz, toHz);
  const step = fromHz / meetingsHz;
  const outputStep = toHz / meetingsHz;
  const piece = Math.ceil(Math.min(MAX_PIECE_S, PIECE_SAMPLES / fromHz) * meetingsHz);
  const context = Math.ceil((CONTEXT_PERIODS / Math.min(fromHz, toHz)) * meetingsHz);
  for (let from = 0; from * outputStep < output.length; from += piece) {
    const before = Math.max(0, from - context);
    const part = samples.subarray(before * step, (from + piece + context) * step);
    const converted = resample(part, fromHz, toHz);
    const first = (from - before) * outputStep;
    const room = Math.min(piece * outputStep, output.length - from * outputStep);
    output.set(converted.subarray(first, first + room), from * outputStep);
    yield;
  }
  return output;
}

const MAX_PIECE_S = 0.5;
const PIECE_SAMPLES = 24_000;
/** The resampler looks 47 periods of the lower rate to either side. */
const CONTEXT_PERIODS = 50;

/**
 * A rate that is quickly converted to `toHz`: the given one, or where the two have hardly anything in common the nearest
 * hundred, which changes a pitch by less than a twentieth of a semitone at any rate at which speech is recorded.
 */
export function convenientRateHz(sampleRateHz: number, toHz: number): number {
  if (greatestCommonDivisor(sampleRateHz, toHz) >= MIN_MEETINGS_HZ) return sampleRateHz;
  return Math.max(100, Math.round(sampleRateHz / 100) * 100);
}

const MIN_MEETINGS_HZ = 25;

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
