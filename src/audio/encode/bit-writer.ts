/** Writes bits, the highest first, into memory that grows. */
export class BitWriter {
  #bytes = new Uint8Array(8_192);
  #length = 0;
  #held = 0;
  #heldBits = 0;

  /** The whole bytes written so far; a view that the next write may change. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** The lowest `count` bits of a value; `count` is 0 to 24. */
  put(value: number, count: number): void {
    this.#held = (this.#held << count) | (value & ((1 << count) - 1));
    this.#heldBits += count;
    if (this.#length + 4 > this.#bytes.length) this.#grow();
    while (this.#heldBits >= 8) {
      this.#heldBits -= 8;
      this.#bytes[this.#length++] = this.#held >>> this.#heldBits;
    }
  }

  /** So many zeros and a one. */
  unary(zeros: number): void {
    let left = zeros;
    for (; left >= 24; left -= 24) this.put(0, 24);
    this.put(1, left + 1);
  }

  /** Fills the last byte with zeros. */
  align(): void {
    if (this.#heldBits > 0) this.put(0, 8 - this.#heldBits);
  }

  #grow(): void {
    const larger = new Uint8Array(2 * this.#bytes.length);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
