import { greatestCommonDivisor, resample } from "../../../audio/resample.ts";
import type { Clip } from "../../../core/conversation.ts";
import { percentile } from "./statistics.ts";
import type { Work } from "./work.ts";

export const MAX_EXCERPT_S = 30;

/**
 * Returns the 30 s with the most speech by level, the earliest of several, or all of a shorter clip. Samples that are
 * not finite, or too quiet to be meant, become 0.
 */
export function* bestExcerpt({ samples, sampleRateHz }: Clip): Work<Float32Array> {
  const length = MAX_EXCERPT_S * sampleRateHz;
  if (samples.length <= length) return yield* mapSamples(samples, limited);
  const blockSamples = Math.max(1, Math.round(BLOCK_S * sampleRateHz));
  const levels = yield* blockPowers(samples, blockSamples);
  const threshold = percentile(levels, 0.95) * SPEECH_POWER_RATIO;
  const spokenUpTo = new Uint32Array(levels.length + 1);
  levels.forEach((power, block) => {
    spokenUpTo[block + 1] = spokenUpTo[block]! + (power > threshold ? 1 : 0);
  });
  const blocks = Math.floor(length / blockSamples);
  const step = Math.round(1 / BLOCK_S);
  let [best, max] = [0, -1];
  for (let first = 0; first + blocks <= levels.length; first += step) {
    const spoken = spokenUpTo[first + blocks]! - spokenUpTo[first]!;
    if (spoken > max) [best, max] = [first, spoken];
  }
  return yield* mapSamples(samples.subarray(best * blockSamples, best * blockSamples + length), limited);
}

const BLOCK_S = 0.05;
/** 30 dB below the loud blocks. */
const SPEECH_POWER_RATIO = 1e-3;
const SAMPLES_AT_ONCE = 1 << 17;

function* blockPowers(samples: Float32Array, blockSamples: number): Work<Float32Array> {
  const powers = new Float32Array(Math.floor(samples.length / blockSamples));
  let sinceRest = 0;
  for (let block = 0; block < powers.length; block++) {
    let sum = 0;
    for (let i = block * blockSamples, end = i + blockSamples; i < end; i++) sum += samples[i]! * samples[i]!;
    powers[block] = sum / blockSamples;
    sinceRest += blockSamples;
    if (sinceRest < SAMPLES_AT_ONCE) continue;
    sinceRest = 0;
    yield;
  }
  return powers.map((power) => (power <= 1 ? power : 0));
}

/** Returns the samples with `clean` applied to each. */
export function* mapSamples(samples: Float32Array, clean: (sample: number) => number): Work<Float32Array> {
  const cleaned = new Float32Array(samples.length);
  for (let from = 0; from < samples.length; from += CLEANED_AT_ONCE) {
    cleaned.set(samples.subarray(from, from + CLEANED_AT_ONCE).map(clean), from);
    yield;
  }
  return cleaned;
}

const CLEANED_AT_ONCE = 1 << 15;
/** Smaller samples are rounding errors. */
export const MIN_AMPLITUDE = 1e-9;

function limited(sample: number): number {
  if (!(Number.isFinite(sample) && Math.abs(sample) >= MIN_AMPLITUDE)) return 0;
  return Math.max(-1, Math.min(1, sample));
}

/**
 * Returns the result of {@link resample}, up to rounding, in pieces of at most half a second. A piece starts where an
 * output sample coincides with an input sample, and is converted with context. Rates without such a place within a
 * piece (44101 Hz) cost three times as much.
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
/** The resampler reaches 47 periods of the lower rate to either side. */
const CONTEXT_PERIODS = 50;

/**
 * Returns a rate that converts quickly to `toHz`: the given one, or, if they have hardly a common divisor, the
 * nearest hundred. That changes pitch by less than a twentieth of a semitone at any recording rate.
 */
export function convenientRateHz(sampleRateHz: number, toHz: number): number {
  if (greatestCommonDivisor(sampleRateHz, toHz) >= MIN_MEETINGS_HZ) return sampleRateHz;
  return Math.max(100, Math.round(sampleRateHz / 100) * 100);
}

const MIN_MEETINGS_HZ = 25;
