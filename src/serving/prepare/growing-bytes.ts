/** Buffer that collects chunks and doubles as they come. */
export class GrowingBytes {
  readonly #maxBytes: number;
  #memory: Uint8Array<ArrayBuffer>;
  #length = 0;

  /** @param firstBytes initial room, committed by the system only as it fills */
  constructor(firstBytes: number, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#memory = new Uint8Array(Math.min(firstBytes, maxBytes));
  }

  get length(): number {
    return this.#length;
  }

  get capacity(): number {
    return this.#memory.length;
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#memory.subarray(0, this.#length);
  }

  /** Throws a `RangeError` beyond `maxBytes`. */
  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#memory.length) {
      const larger = new Uint8Array(Math.min(this.#maxBytes, Math.max(length, 2 * this.#memory.length)));
      larger.set(this.bytes);
      this.#memory = larger;
    }
    this.#memory.set(piece, this.#length);
    this.#length = length;
  }
}
