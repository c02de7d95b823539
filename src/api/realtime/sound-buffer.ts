/** Samples that are kept and forgotten together: half a second. However small the pieces are, there are no more blocks. */
const BLOCK = 8_192;

/** Sound as it came, at 16 kHz, of which the beginning is forgotten: by and by, and beyond a bound. */
export class SoundBuffer {
  readonly #maxSamples: number;
  /** The newest is filled as far as there is sound. */
  readonly #blocks: Float32Array[] = [];
  /** The sample with which the first block begins. */
  #from = 0;
  #appended = 0;

  /** @param maxSamples that are kept at least; of more, up to a block, the oldest are forgotten */
  constructor(maxSamples: number) {
    this.#maxSamples = maxSamples;
  }

  /** Samples that have come, forgotten ones included. */
  get appended(): number {
    return this.#appended;
  }

  /** Samples for which there is memory just now. */
  get held(): number {
    return this.#blocks.length * BLOCK;
  }

  push(samples: Float32Array): void {
    for (let at = 0; at < samples.length; ) {
      const used = this.#appended - this.#from;
      if (used === this.held) this.#blocks.push(new Float32Array(BLOCK));
      const piece = samples.subarray(at, at + BLOCK - (used % BLOCK));
      this.#blocks.at(-1)!.set(piece, used % BLOCK);
      this.#appended += piece.length;
      at += piece.length;
      this.forget(this.#appended - this.#maxSamples);
    }
  }

  /** Forgets what is before a sample; less than a block of it stays. */
  forget(before: number): void {
    const until = Math.min(before, this.#appended);
    const drop = Math.max(0, Math.floor((until - this.#from) / BLOCK));
    if (drop === 0) return;
    this.#blocks.splice(0, drop);
    this.#from += drop * BLOCK;
  }

  /** A copy of what is kept between two samples. */
  read(from: number, to: number): Float32Array {
    const start = Math.max(from, this.#from);
    const end = Math.min(to, this.#appended);
    const read = new Float32Array(Math.max(0, end - start));
    for (let at = start; at < end; ) {
      const offset = (at - this.#from) % BLOCK;
      const block = this.#blocks[(at - this.#from - offset) / BLOCK]!;
      const piece = block.subarray(offset, Math.min(BLOCK, offset + end - at));
      read.set(piece, at - start);
      at += piece.length;
    }
    return read;
  }
}
