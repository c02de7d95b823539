import { FRAME_S } from "../../src/audio/format.ts";

const FRAME_MS = FRAME_S * 1_000;

/**
 * A listener who plays frames in real time. It begins when the first frame has been there for `bufferMs`; a frame that
 * is not there when it is due is an underrun, and all that follows is played that much later.
 */
export class Playback {
  readonly #bufferMs: number;
  #beganMs = 0;
  #frames = 0;

  constructor(bufferMs: number) {
    this.#bufferMs = bufferMs;
  }

  /** Takes the next frame. @returns how late it came, in milliseconds; 0 when it was in time. */
  take(nowMs: number): number {
    if (this.#frames === 0) this.#beganMs = nowMs + this.#bufferMs;
    const lateMs = Math.max(0, nowMs - this.endMs);
    this.#beganMs += lateMs;
    this.#frames += 1;
    return lateMs;
  }

  /** Frames taken so far. */
  get frames(): number {
    return this.#frames;
  }

  /** When the last frame taken will have been played. */
  get endMs(): number {
    return this.#beganMs + this.#frames * FRAME_MS;
  }

  /** How long the frames taken will last from now, in milliseconds. */
  aheadMs(nowMs: number): number {
    return this.endMs - nowMs;
  }
}
