import { joinedBytes } from "./joined.ts";

/** Puts bytes that come in pieces of any size together again, so that no frame (a sample of each channel) is cut. */
export class WholeFrames {
  readonly #frameBytes: number;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(frameBytes: number) {
    this.#frameBytes = frameBytes;
  }

  /** All frames that are whole now; may be none. */
  push(piece: Uint8Array): Uint8Array {
    const all = this.#rest.length === 0 ? piece : joinedBytes([this.#rest, piece]);
    const wholeBytes = all.length - (all.length % this.#frameBytes);
    // A copy: what is left must not keep all of the piece.
    this.#rest = Uint8Array.from(all.subarray(wholeBytes));
    return all.subarray(0, wholeBytes);
  }
}
