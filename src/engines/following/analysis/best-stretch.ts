import type { Clip } from "../../../core/conversation.ts";
import { percentile } from "./statistics.ts";
import type { Work } from "./work.ts";

/** Most of one clip that is listened to, in seconds. */
export const MAX_STRETCH_S = 30;

/**
 * The stretch of at most 30 s that holds the most speech, as far as levels tell, the earliest of several: all of a
 * shorter clip. Samples that are not finite count as silence, and so do those too quiet to be meant.
 */
export function* bestStretch({ samples, sampleRateHz }: Clip): Work<Float32Array> {
  const length = MAX_STRETCH_S * sampleRateHz;
  if (samples.length <= length) return yield* cleaned(samples);
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
  return yield* cleaned(samples.subarray(best * blockSamples, best * blockSamples + length));
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

const MIN_AMPLITUDE = 1e-9;

function* cleaned(samples: Float32Array): Work<Float32Array> {
  const clean = new Float32Array(samples.length);
  for (let from = 0; from < samples.length; from += SAMPLES_AT_ONCE) {
    clean.set(samples.subarray(from, from + SAMPLES_AT_ONCE).map(cleanedSample), from);
    yield;
  }
  return clean;
}

function cleanedSample(sample: number): number {
  if (!(Number.isFinite(sample) && Math.abs(sample) >= MIN_AMPLITUDE)) return 0;
  return Math.max(-1, Math.min(1, sample));
}
