/** Sound as it came, at 16 kHz, of which the beginning is forgotten: by and by, and beyond a bound. */
export class SoundBuffer {
  readonly #maxSamples: number;
  #pieces: Float32Array[] = [];
  #from = 0;
  #length = 0;

  /** @param maxSamples that are kept; of more the oldest are forgotten */
  constructor(maxSamples: number) {
    this.#maxSamples = maxSamples;
  }

  /** Samples that have come, forgotten ones included. */
  get appended(): number {
    return this.#from + this.#length;
  }

  push(samples: Float32Array): void {
    if (samples.length === 0) return;
    this.#pieces.push(samples);
    this.#length += samples.length;
    if (this.#length > this.#maxSamples) this.forget(this.appended - this.#maxSamples);
  }

  /** Forgets what is before a sample; at most a piece of it stays. */
  forget(before: number): void {
    let drop = 0;
    while (drop < this.#pieces.length && this.#from + this.#pieces[drop]!.length <= before) {
      this.#from += this.#pieces[drop]!.length;
      this.#length -= this.#pieces[drop]!.length;
      drop += 1;
    }
    if (drop > 0) this.#pieces.splice(0, drop);
  }

  /** A copy of what is kept between two samples. */
  read(from: number, to: number): Float32Array {
    const start = Math.max(from, this.#from);
    const end = Math.min(to, this.appended);
    const read = new Float32Array(Math.max(0, end - start));
    let at = this.#from;
    for (const piece of this.#pieces) {
      const first = Math.max(start, at);
      const last = Math.min(end, at + piece.length);
      if (first < last) read.set(piece.subarray(first - at, last - at), first - start);
      at += piece.length;
    }
    return read;
  }
}
