import { AudioFormatError } from "../audio-format-error.ts";

/** Reads bits from the highest of each byte on. Past the end there are zeros, until {@link BitReader.check}. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #byte: number;
  #bit = 0;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#byte = at;
  }

  /** The next whole byte's place. */
  get at(): number {
    return this.#bit === 0 ? this.#byte : this.#byte + 1;
  }

  /** Up to 32 bits, as a number without sign. */
  read(count: number): number {
    if (count === 0) return 0;
    const value = this.#next32() >>> (32 - count);
    this.#skip(count);
    return value;
  }

  /** Up to 32 bits, the first of which is the sign. */
  readSigned(count: number): number {
    if (count === 0) return 0;
    const value = this.#next32() >> (32 - count);
    this.#skip(count);
    return value;
  }

  /** How many zeros come before the next one, which is passed too. */
  readUnary(): number {
    let zeros = 0;
    for (;;) {
      const next = this.#next32();
      if (next !== 0) {
        const more = Math.clz32(next);
        this.#skip(more + 1);
        return zeros + more;
      }
      zeros += 32;
      this.#skip(32);
      this.check();
    }
  }

  /** On to the next whole byte. */
  align(): void {
    this.#byte = this.at;
    this.#bit = 0;
  }

  /** Throws {@link AudioFormatError} where more was read than there is. */
  check(): void {
    if (this.at > this.#bytes.length) throw new AudioFormatError("it is cut off in the middle of a frame");
  }

  #skip(bits: number): void {
    const to = this.#bit + bits;
    this.#byte += to >> 3;
    this.#bit = to & 7;
  }

  #next32(): number {
    const bytes = this.#bytes;
    const at = this.#byte;
    const whole = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
    return this.#bit === 0 ? whole : (whole << this.#bit) | (bytes[at + 4]! >> (8 - this.#bit));
  }
}
