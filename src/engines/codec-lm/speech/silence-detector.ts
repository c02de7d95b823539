import { FRAME_S } from "../../../audio/format.ts";

/** Root mean square of a full-scale square wave is 1: this is 50 dB below it, and what is less nobody hears. */
const FAINT = 0.003;
/** So far below the loudest frame, 40 dB, nobody speaks. */
const FAINT_SHARE = 0.01;
/** Nobody pauses as long within a few sentences. */
const MAX_PAUSE_S = 3;

/** Whether there is anything to hear in some samples. */
export function isFaint(samples: Float32Array): boolean {
  return loudness(samples) < FAINT;
}

/** Watches speech for silence. */
export class SilenceDetector {
  #loudest = 0;
  #frames = 0;

  hear(samples: Float32Array): void {
    const level = loudness(samples);
    this.#loudest = Math.max(this.#loudest, level);
    const isQuiet = level < Math.max(FAINT, FAINT_SHARE * this.#loudest);
    this.#frames = isQuiet ? this.#frames + 1 : 0;
  }

  /** Frames since something was heard. */
  get frames(): number {
    return this.#frames;
  }

  /** Whether speech began and then nothing was heard for longer than anybody pauses. */
  get isOver(): boolean {
    return this.#loudest >= FAINT && this.#frames * FRAME_S >= MAX_PAUSE_S;
  }
}

/** Root mean square. */
function loudness(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return samples.length === 0 ? 0 : Math.sqrt(sum / samples.length);
}
