import type { RunQueued } from "./run-queued.ts";

/** Samples a second of what speech is looked for in. */
export const DETECTION_RATE_HZ = 16_000;
/** Samples that are judged together: 32 ms. */
export const WINDOW_SAMPLES = 512;

/**
 * Tells where somebody speaks in one sound, as that comes. Nothing is kept but what the next window needs. Rejects with a
 * {@link TurnDetectionError}, after which the sound goes on as if it began.
 */
export interface VoiceActivity {
  /**
   * @param samples the next of the sound, in any number: mono, 16 kHz, in [-1, 1]. However a sound is cut, it gives the
   * same numbers. Calls are answered in order, and may be made before the last is.
   * @returns for each window of 512 samples that is complete now the probability of speech, 0 to 1
   */
  push(samples: Float32Array): Promise<readonly number[]>;
  /** Forgets the sound so far: what comes next is another's beginning. */
  reset(): void;
}

/** Makes a {@link VoiceActivity} for each sound. Those that are open go on beside one another. */
export interface VoiceActivityDetector {
  /** @param inTurn runs each call that takes time; by default at once */
  open(inTurn?: RunQueued): VoiceActivity;
  close(): Promise<void>;
}

/** Tells from how a turn sounds whether its speaker has finished. */
export interface TurnJudge {
  /**
   * @param turn from its beginning, with 0.1 to 0.2 s of the pause after it: mono, 16 kHz, in [-1, 1]. The judge owns it.
   * With more of the pause every turn sounds finished.
   * @returns the probability that the speaker has finished, 0 to 1
   * @throws TurnDetectionError; the signal's reason when that aborts
   */
  judge(turn: Float32Array, signal: AbortSignal): Promise<number>;
  close(): Promise<void>;
}

/** The detector failed, its thread died, or it was closed. The next call may work. */
export class TurnDetectionError extends Error {
  override readonly name = "TurnDetectionError";
}
