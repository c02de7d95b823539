import {
  type TurnJudge,
  type VoiceActivity,
  type VoiceActivityDetector,
  WINDOW_SAMPLES,
} from "../../core/turn-detection.ts";

/** Samples below this level are a pause: -45 dB of full scale. */
const QUIET = 10 ** (-45 / 20);

/**
 * Takes for speech whatever is loud: without a network, and so without telling a voice from a noise. Where no network can
 * be had, for tests, and for microphones that are open only while somebody speaks.
 */
export function levelDetector(thresholdDb = -45): VoiceActivityDetector {
  return { open: () => new LevelActivity(thresholdDb), async close() {} };
}

/** How far from the threshold the level has to be for 0.27 or 0.73, in decibels. */
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

/** Takes a turn for finished by the length of the pause after it: surely after so many samples, half surely after half. */
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
