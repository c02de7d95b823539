import { FRAME_S } from "../../audio/format.ts";

/** Who has waited gets so much at once, in seconds, so that a listener costs one timer and one write for all of it. */
const TOGETHER_S = 4 * FRAME_S;

/**
 * How far speech may be made ahead of its listeners. What is beyond waits, each utterance by a timer of its own that ends
 * with the wait.
 */
export class PlaybackPacer {
  readonly #maxS: number;
  readonly #waiting = new Set<() => void>();
  #isLifted = false;

  /** @param maxS seconds of speech beyond what a listener in real time has heard; 0 is no bound */
  constructor(maxS: number) {
    this.#maxS = maxS === 0 ? Number.POSITIVE_INFINITY : maxS;
  }

  /**
   * Until the next frame may be made for who is `aheadS` ahead: `null` when it may be now, else a promise, after which is
   * to be asked again. That throws the signal's reason as soon as it aborts.
   *
   * @param maxS a bound of its own, where that is the lower one; then each frame is waited for by itself
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

  /** Nobody is held back any more: who waits goes on. */
  lift(): void {
    this.#isLifted = true;
    for (const settle of [...this.#waiting]) settle();
  }
}
