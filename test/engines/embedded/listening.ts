import { SAMPLE_RATE_HZ } from "../../../src/audio/format.ts";
import { joinSamples } from "../../../src/audio/pcm.ts";
import type { SpeechModel } from "../../../src/core/speech-model.ts";
import { type ScriptParts, speakAll } from "../../core/scripts.ts";

/** Returns all samples of an utterance. */
export async function hear(model: SpeechModel, parts: ScriptParts): Promise<Float32Array> {
  const { frames } = await speakAll(model, parts);
  return joinSamples(frames.map(({ samples }) => samples));
}

/** Milliseconds before and after the sound, and of silences of at least 80 ms within it. */
export interface Sound {
  readonly onsetMs: number;
  readonly tailMs: number;
  readonly pausesMs: readonly number[];
}

/** Measures blocks of 5 ms above −45 dB of the loudest block. */
export function soundIn(samples: Float32Array): Sound {
  const block = 0.005 * SAMPLE_RATE_HZ;
  const levels = Array.from({ length: Math.floor(samples.length / block) }, (_, index) =>
    rms(samples.subarray(index * block, (index + 1) * block)),
  );
  const floor = Math.max(...levels) * 10 ** (-45 / 20);
  const heard = levels.flatMap((level, index) => (level > floor ? [index] : []));
  const gaps = heard.map((index, at) => 5 * (index - (heard[at - 1] ?? index) - 1));
  return {
    onsetMs: 5 * heard[0]!,
    tailMs: (1_000 * samples.length) / SAMPLE_RATE_HZ - 5 * (heard.at(-1)! + 1),
    pausesMs: gaps.filter((gap) => gap >= 80),
  };
}

/** Root mean square; 0 for no samples. */
export function rms(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length));
}

/** Median pitch over voiced blocks of 50 ms, by the peak of the autocorrelation between 60 and 400 Hz. */
export function medianPitchHz(samples: Float32Array): number {
  const width = 0.05 * SAMPLE_RATE_HZ;
  const pitches: number[] = [];
  for (let at = 0; at + 2 * width <= samples.length; at += width / 2) {
    if (rms(samples.subarray(at, at + width)) < 0.02) continue;
    const products = (lag: number) => {
      let sum = 0;
      for (let i = 0; i < width; i++) sum += samples[at + i]! * samples[at + i + lag]!;
      return sum;
    };
    const scores: number[] = [];
    for (let lag = SAMPLE_RATE_HZ / 400; lag <= SAMPLE_RATE_HZ / 60; lag++) scores.push(products(lag));
    const best = Math.max(...scores);
    if (best < 0.6 * products(0)) continue;
    // The first lag that is nearly as good: the best one may be two periods long.
    const lag = scores.findIndex((score, i) => score > 0.85 * best && score >= (scores[i + 1] ?? 0));
    pitches.push(SAMPLE_RATE_HZ / (lag + SAMPLE_RATE_HZ / 400));
  }
  pitches.sort((a, b) => a - b);
  return pitches[pitches.length >> 1] ?? 0;
}

/** The share of energy from `fromHz` up, by a Fourier sum over blocks of 20 ms. */
export function shareAbove(samples: Float32Array, fromHz: number): number {
  const size = 480;
  const cosine = Array.from({ length: size }, (_, n) => Math.cos((2 * Math.PI * n) / size));
  const window = cosine.map((value) => 0.5 - 0.5 * value);
  let above = 0;
  let all = 0;
  for (let at = 0; at + size <= samples.length; at += size) {
    for (let bin = 1; bin < size / 2; bin++) {
      let re = 0;
      let im = 0;
      for (let n = 0; n < size; n++) {
        const sample = samples[at + n]! * window[n]!;
        re += sample * cosine[(bin * n) % size]!;
        im += sample * cosine[(bin * n + size / 4) % size]!;
      }
      const energy = re * re + im * im;
      all += energy;
      if ((bin * SAMPLE_RATE_HZ) / size >= fromHz) above += energy;
    }
  }
  return above / all;
}
