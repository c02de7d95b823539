import {
  type TurnJudge,
  type VoiceActivity,
  type VoiceActivityDetector,
  WINDOW_SAMPLES,
} from "../../core/turn-detection.ts";

/** Level that separates a pause from speech, in decibels of full scale. */
const QUIET_DB = -45;
const QUIET = 10 ** (QUIET_DB / 20);

/**
 * Detects activity by level alone, so it cannot tell speech from noise: for tests, push-to-talk, and platforms
 * without onnxruntime.
 */
export function levelDetector(): VoiceActivityDetector {
  return { open: () => new LevelActivity(), async close() {} };
}

/** Distance from {@link QUIET_DB}, in decibels, at which the probability is 0.27 or 0.73. */
const SLOPE_DB = 3;

class LevelActivity implements VoiceActivity {
  #squares = 0;
  #count = 0;

  async push(samples: Float32Array): Promise<readonly number[]> {
    const windows: number[] = [];
    for (const sample of samples) {
      this.#squares += sample * sample;
      this.#count += 1;
      if (this.#count < WINDOW_SAMPLES) continue;
      const levelDb = 10 * Math.log10(Math.max(1e-12, this.#squares / WINDOW_SAMPLES));
      windows.push(1 / (1 + Math.exp((QUIET_DB - levelDb) / SLOPE_DB)));
      this.reset();
    }
    return windows;
  }

  reset(): void {
    this.#squares = 0;
    this.#count = 0;
  }
}

const SURE_PAUSE_SAMPLES = 8_000;

/** Judges a turn by the pause at its end: probability 1 after half a second, 0.5 after half as long. */
export function pauseJudge(): TurnJudge {
  return {
    async judge(turn, signal) {
      signal.throwIfAborted();
      const last = turn.findLastIndex((sample) => Math.abs(sample) > QUIET);
      return Math.min(1, (turn.length - 1 - last) / SURE_PAUSE_SAMPLES);
    },
    async close() {},
  };
}
