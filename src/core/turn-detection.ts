import type { RunQueued } from "./run-queued.ts";

/** Sample rate of voice activity detection. */
export const DETECTION_RATE_HZ = 16_000;
/** Samples per decision: 32 ms. */
export const WINDOW_SAMPLES = 512;

/**
 * Detects speech in one audio stream. Keeps only the state that the next window needs. After a {@link
 * TurnDetectionError}, detection continues as if the stream began.
 */
export interface VoiceActivity {
  /**
   * @param samples the next samples, mono, 16 kHz, in [-1, 1], in chunks of any size: the result does not depend on
   * them. Calls may overlap and are answered in order.
   * @returns the probability of speech, 0 to 1, for each window of 512 samples completed by this call
   */
  push(samples: Float32Array): Promise<readonly number[]>;
  /** Forgets the stream so far; the next samples begin another. */
  reset(): void;
}

/** Opens independent streams. */
export interface VoiceActivityDetector {
  /** @param inTurn schedules each call that takes time; by default runs it at once */
  open(inTurn?: RunQueued): VoiceActivity;
  close(): Promise<void>;
}

/** Judges from its sound whether a turn is finished. */
export interface TurnJudge {
  /**
   * @param turn from its beginning, with 0.1 to 0.2 s of the following pause: mono, 16 kHz, in [-1, 1]; owned by the
   * judge. A longer pause makes every turn sound finished.
   * @returns the probability that the turn is finished, 0 to 1
   * @throws TurnDetectionError; the signal's reason when it aborts
   */
  judge(turn: Float32Array, signal: AbortSignal): Promise<number>;
  close(): Promise<void>;
}

/** Detection failed, its thread died, or it was closed. The next call may succeed. */
export class TurnDetectionError extends Error {
  override readonly name = "TurnDetectionError";
}
