import {
  type TurnJudge,
  type VoiceActivity,
  type VoiceActivityDetector,
  WINDOW_SAMPLES,
} from "../../core/turn-detection.ts";

/** Level of a pause: -45 dB of full scale. */
const QUIET = 10 ** (-45 / 20);

/**
 * Detects activity by level alone, so it cannot tell speech from noise: for tests, push-to-talk, and platforms
 * without onnxruntime.
 */
export function levelDetector(thresholdDb = -45): VoiceActivityDetector {
  return { open: () => new LevelActivity(thresholdDb), async close() {} };
}

/** Distance from the threshold, in decibels, at which the probability is 0.27 or 0.73. */
const SLOPE_DB = 3;

class LevelActivity implements VoiceActivity {
  readonly #thresholdDb: number;
  #squares = 0;
  #count = 0;

  constructor(thresholdDb: number) {
    this.#thresholdDb = thresholdDb;
  }

  async push(samples: Float32Array): Promise<readonly number[]> {
    const windows: number[] = [];
    for (const sample of samples) {
      this.#squares += sample * sample;
      this.#count += 1;
      if (this.#count < WINDOW_SAMPLES) continue;
      const levelDb = 10 * Math.log10(Math.max(1e-12, this.#squares / WINDOW_SAMPLES));
      windows.push(1 / (1 + Math.exp((this.#thresholdDb - levelDb) / SLOPE_DB)));
      this.reset();
    }
    return windows;
  }

  reset(): void {
    this.#squares = 0;
    this.#count = 0;
  }
}

/** Judges a turn by the pause at its end: probability 1 after this many samples, 0.5 after half as many. */
export function pauseJudge(surePauseSamples = 8_000): TurnJudge {
  return {
    async judge(turn, signal) {
      signal.throwIfAborted();
      const last = turn.findLastIndex((sample) => Math.abs(sample) > QUIET);
      return Math.min(1, (turn.length - 1 - last) / surePauseSamples);
    },
    async close() {},
  };
}
