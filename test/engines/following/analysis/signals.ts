import type { Clip } from "../../../../src/core/conversation.ts";

/** Uniform noise within ±1 by a linear congruential generator. */
export function noise(length: number, seed: number): Float32Array {
  let state = seed >>> 0;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

export interface Tone {
  readonly sampleRateHz: number;
  readonly durationS: number;
  readonly pitchHz: (timeS: number) => number;
  /** 1 makes a sine. */
  readonly harmonics: number;
  /** Signal-to-noise ratio in decibels. Default: no noise. */
  readonly snrDb?: number;
}

/** Harmonics that fall by 6 dB per octave, below 0.45 of the rate; about −20 dBFS. */
export function tone({ sampleRateHz, durationS, pitchHz, harmonics, snrDb = 200 }: Tone): Float32Array {
  const samples = new Float32Array(Math.round(sampleRateHz * durationS));
  let phase = 0;
  for (let n = 0; n < samples.length; n++) {
    const hz = pitchHz(n / sampleRateHz);
    phase += (2 * Math.PI * hz) / sampleRateHz;
    for (let h = 1; h <= harmonics && h * hz < 0.45 * sampleRateHz; h++)
      samples[n]! += (0.14 * Math.sin(h * phase + h)) / h;
  }
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
  const scale = Math.sqrt(3 * power * 10 ** (-snrDb / 10));
  const hiss = noise(samples.length, 1);
  return samples.map((sample, n) => sample + scale * hiss[n]!);
}

/** The sum of signals. */
export function mixture(first: Float32Array, ...others: readonly Float32Array[]): Float32Array {
  return first.map((sample, n) => others.reduce((sum, other) => sum + other[n]!, sample));
}

export function scaled(samples: Float32Array, gain: number): Float32Array {
  return samples.map((sample) => gain * sample);
}

export function clipOf(samples: Float32Array, sampleRateHz = 24_000): Clip {
  return { samples, sampleRateHz, durationS: samples.length / sampleRateHz, digest: "" };
}
