import { RealFourier } from "../../../audio/fourier.ts";
import { BIN_HZ, BINS, HOP_SAMPLES, WINDOW_SAMPLES } from "../../prosody/frames.ts";
import { BANDS, bandLogs } from "./bands.ts";
import type { Work } from "./work.ts";

/** A recording in frames of 12.5 ms, frame n centred on n · 12.5 ms, as in a plan. */
export interface ClipFrames {
  readonly count: number;
  /** Decibels relative to full scale; −120 in digital silence. */
  readonly levelDb: Float32Array;
  /** Energy from 300 to 3300 Hz in decibels, which shows syllables. */
  readonly syllableDb: Float32Array;
  /** [count, 40]: natural logarithm of the power in each band. */
  readonly bands: Float32Array;
}

export function* clipFrames(samples: Float32Array): Work<ClipFrames> {
  const count = Math.floor(samples.length / HOP_SAMPLES);
  const levelDb = new Float32Array(count);
  const syllableDb = new Float32Array(count);
  const bands = new Float32Array(count * BANDS);
  const look = createFrameAnalyser();
  for (let frame = 0; frame < count; frame++) {
    const powers = look(samples, frame);
    levelDb[frame] = decibels(sum(powers, 0, BINS) * POWER_TO_LEVEL);
    syllableDb[frame] = decibels(sum(powers, SYLLABLE_BINS[0], SYLLABLE_BINS[1]) * POWER_TO_LEVEL);
    bandLogs(powers, bands.subarray(frame * BANDS, (frame + 1) * BANDS));
    if (frame % FRAMES_AT_ONCE === FRAMES_AT_ONCE - 1) yield;
  }
  return { count, levelDb, syllableDb, bands };
}

/** Returns a function that returns |X|² of one frame, [601], in an array that the next call reuses. */
export function createFrameAnalyser(): (samples: Float32Array, frame: number) => Float64Array {
  const fourier = new RealFourier(WINDOW_SAMPLES);
  const windowed = new Float64Array(WINDOW_SAMPLES);
  const powers = new Float64Array(BINS);
  return (samples, frame) => {
    const start = frame * HOP_SAMPLES - WINDOW_SAMPLES / 2;
    for (let i = 0; i < WINDOW_SAMPLES; i++) windowed[i] = (samples[start + i] ?? 0) * HANN[i]!;
    fourier.powers(windowed, powers);
    return powers;
  };
}

const FRAMES_AT_ONCE = 80;
const SYLLABLE_BINS = [300 / BIN_HZ, 3_300 / BIN_HZ] as const;

const HANN = Float64Array.from(
  { length: WINDOW_SAMPLES },
  (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / WINDOW_SAMPLES),
);
/** Parseval's theorem for half a spectrum; a Hann window passes 3/8 of the power. */
const POWER_TO_LEVEL = 2 / (WINDOW_SAMPLES * WINDOW_SAMPLES * 0.375);

function sum(powers: Float64Array, from: number, to: number): number {
  let total = 0;
  for (let bin = from; bin < to; bin++) total += powers[bin]!;
  return total;
}

function decibels(power: number): number {
  return 10 * Math.log10(power + 1e-12);
}
