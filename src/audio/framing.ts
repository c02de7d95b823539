import { FRAME_SAMPLES } from "./format.ts";

/**
 * Cuts blocks of any size into frames of exactly 1920 samples. Each sample is copied once, on its way out; a pushed
 * block is held until then, so its owner must not write to it any more.
 */
export class Framer {
  readonly #blocks: Float32Array[] = [];
  /** Samples of the first block that are already out. */
  #taken = 0;
  #buffered = 0;

  /** Samples pushed and not yet out. */
  get bufferedSamples(): number {
    return this.#buffered;
  }

  push(block: Float32Array): void {
    if (block.length === 0) return;
    this.#blocks.push(block);
    this.#buffered += block.length;
  }

  /** The next 1920 samples in an array of the caller's own, or `null` while fewer are there. */
  take(): Float32Array | null {
    return this.#buffered < FRAME_SAMPLES ? null : this.#takeSamples(FRAME_SAMPLES);
  }

  /** The last 1 to 1920 samples once {@link take} has given all it can, `null` when none are left. Call until `null`. */
  flush(): Float32Array | null {
    return this.#buffered === 0 ? null : this.#takeSamples(Math.min(this.#buffered, FRAME_SAMPLES));
  }

  #takeSamples(count: number): Float32Array {
    const frame = new Float32Array(count);
    let filled = 0;
    while (filled < count) {
      const block = this.#blocks[0]!;
      const piece = block.subarray(this.#taken, this.#taken + count - filled);
      frame.set(piece, filled);
      filled += piece.length;
      this.#taken += piece.length;
      if (this.#taken === block.length) {
        this.#blocks.shift();
        this.#taken = 0;
      }
    }
    this.#buffered -= count;
    return frame;
  }
}
