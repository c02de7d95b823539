import { FRAME_S } from "../../audio/format.ts";

/**
 * Seconds of speech released together after a wait, so that a listener costs one timer and one write for all of it.
 */
const TOGETHER_S = 4 * FRAME_S;

/** Limit on how far synthesis may be ahead of playback. Utterances beyond it wait, each by a timer of its own. */
export class PlaybackPacer {
  readonly #maxS: number;
  readonly #waiting = new Set<() => void>();
  #isLifted = false;

  /** @param maxS seconds of speech beyond what a real-time listener has played; 0 is no limit */
  constructor(maxS: number) {
    this.#maxS = maxS === 0 ? Number.POSITIVE_INFINITY : maxS;
  }

  /**
   * Returns `null` if an utterance that is `aheadS` ahead may compute its next frame; else a promise, after
   * which to ask again. It rejects with the signal's reason as soon as that aborts.
   *
   * @param maxS lower limit of this utterance; it then waits for each frame
   */
  wait(aheadS: number, signal: AbortSignal, maxS?: number): Promise<void> | null {
    const overS = aheadS + FRAME_S - Math.min(this.#maxS, maxS ?? Number.POSITIVE_INFINITY);
    if (this.#isLifted || overS <= 0) return null;
    const waitS = maxS === undefined ? overS + TOGETHER_S - FRAME_S : overS;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", settle);
        this.#waiting.delete(settle);
        if (signal.aborted) reject(signal.reason);
        else resolve();
      };
      const timer = setTimeout(settle, Math.ceil(1_000 * waitS));
      signal.addEventListener("abort", settle, { once: true });
      this.#waiting.add(settle);
      if (signal.aborted) settle();
    });
  }

  /** Lifts the limit and releases all utterances that wait. */
  lift(): void {
    this.#isLifted = true;
    for (const settle of [...this.#waiting]) settle();
  }
}
