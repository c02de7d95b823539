import { FRAME_S, FRAME_SAMPLES } from "../audio/format.ts";

/**
 * Follows one utterance as a listener who plays it in real time from the first frame would: tells when a frame came
 * later than it was needed although it had been asked for in time.
 */
export class PacedListener {
  #startedS: number | null = null;
  #frames = 0;

  /**
   * Call with the times, in seconds of one clock, at which a frame was asked for and came, and how many samples it
   * has. True: it was late.
   */
  isLate(askedS: number, cameS: number, samples = FRAME_SAMPLES): boolean {
    const frames = samples / FRAME_SAMPLES;
    if (this.#startedS === null) {
      this.#startedS = cameS;
      this.#frames = frames;
      return false;
    }
    const neededS = this.#startedS + this.#frames * FRAME_S;
    const late = askedS <= neededS && cameS > neededS;
    // A listener that ran dry, or asked late, starts its clock again with this frame.
    if (cameS > neededS) this.#startedS = cameS - this.#frames * FRAME_S;
    this.#frames += frames;
    return late;
  }
}
