import { createHash } from "node:crypto";

/** Positions of a block: a prompt is read so many at a time. */
export const BLOCK_POSITIONS = 32;

/**
 * Keys and values of prompts that were read, in blocks, so that a prompt that begins like an earlier one need not be read
 * from its beginning. A block is known by its rows and all rows before it; what is kept of it is exactly what reading it
 * would give, since prompts are read in these blocks always.
 */
export class PrefixCache {
  readonly #maxBytes: number;
  /** The longest unused first. */
  readonly #blocks = new Map<string, Float32Array>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The keys of a prompt's whole blocks. @param rows [n, width] */
  static keysOf(rows: Float32Array, width: number): string[] {
    const size = BLOCK_POSITIONS * width;
    const keys: string[] = [];
    for (let from = 0; from + size <= rows.length; from += size) {
      const block = rows.subarray(from, from + size);
      const bytes = new Uint8Array(block.buffer, block.byteOffset, block.byteLength);
      keys.push(
        createHash("sha256")
          .update(keys.at(-1) ?? "")
          .update(bytes)
          .digest("base64"),
      );
    }
    return keys;
  }

  get(key: string): Float32Array | undefined {
    const block = this.#blocks.get(key);
    if (block === undefined) return undefined;
    this.#blocks.delete(key);
    this.#blocks.set(key, block);
    return block;
  }

  set(key: string, block: Float32Array): void {
    if (this.#blocks.has(key)) return;
    this.#blocks.set(key, block);
    this.#bytes += block.byteLength;
    for (const [oldest, { byteLength }] of this.#blocks) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#blocks.delete(oldest);
      this.#bytes -= byteLength;
    }
  }
}
