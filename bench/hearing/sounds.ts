import type { Clip } from "../../src/core/conversation.ts";
import { createRandom, type Random } from "../../src/engines/prosody/random.ts";

/** What clips are made at: what Whisper hears. */
export const RATE_HZ = 16_000;

/** Random numbers that repeat with the name. */
export function randomFor(name: string): Random {
  const seed = [...name].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) >>> 0, 7);
  return createRandom(BigInt(seed), 0, "noise");
}

/** Samples of what a formula gives for each moment, in seconds. */
export function drawn(durationS: number, sampleAt: (timeS: number) => number): Float32Array {
  return Float32Array.from({ length: Math.round(durationS * RATE_HZ) }, (_, at) => sampleAt(at / RATE_HZ));
}

/** Noise whose power falls by so many decibels an octave: 0 white, 3 pink, 6 brown. RMS of 1. */
export function noise(durationS: number, fallDb: 0 | 3 | 6, random: Random): Float32Array {
  const white = () => 2 * random.uniform() - 1;
  // Pink: a sum of one-pole filters (Kellet's "economy" form).
  let [a, b, c, brown] = [0, 0, 0, 0];
  const next = (): number => {
    const value = white();
    if (fallDb === 0) return value;
    if (fallDb === 6) {
      brown = 0.995 * brown + value;
      return brown;
    }
    a = 0.99765 * a + value * 0.099046;
    b = 0.963 * b + value * 0.2965164;
    c = 0.57 * c + value * 1.0526913;
    return a + b + c + value * 0.1848;
  };
  return scaledToRms(drawn(durationS, next), 1);
}

export function scaledToRms(samples: Float32Array, rms: number): Float32Array {
  const own = rmsOf(samples);
  return own === 0 ? samples : samples.map((value) => (value * rms) / own);
}

export function rmsOf(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / Math.max(1, samples.length));
}

/** The sum of sounds, as long as the longest, at most at full scale. */
export function mixed(sounds: readonly Float32Array[]): Float32Array {
  const out = new Float32Array(Math.max(...sounds.map(({ length }) => length)));
  for (const sound of sounds) {
    for (let at = 0; at < sound.length; at++) out[at]! += sound[at]!;
  }
  return limited(out);
}

/** As it is where it stays below full scale, else turned down. */
export function limited(samples: Float32Array): Float32Array {
  const peak = samples.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return peak <= 0.95 ? samples : samples.map((value) => (0.95 * value) / peak);
}

export function clipOf(samples: Float32Array, name: string, sampleRateHz = RATE_HZ): Clip {
  return { samples, sampleRateHz, durationS: samples.length / sampleRateHz, digest: name };
}
