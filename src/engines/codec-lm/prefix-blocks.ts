import { createHash } from "node:crypto";

/** Positions of a block: a prompt is read so many at a time. */
export const BLOCK_POSITIONS = 32;

/**
 * Keys and values of prompts that were read, in blocks, so that a prompt that begins like an earlier one need not be read
 * from its beginning. A block is known by its rows and all rows before it; what is kept of it is exactly what reading it
 * would give, since prompts are read in these blocks always.
 */
export class PrefixBlocks {
  readonly #mostBytes: number;
  /** The longest unused first. */
  readonly #blocks = new Map<string, Float32Array>();
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** The names of a prompt's whole blocks. @param rows [n, width] */
  static namesOf(rows: Float32Array, width: number): string[] {
    const size = BLOCK_POSITIONS * width;
    const names: string[] = [];
    for (let from = 0; from + size <= rows.length; from += size) {
      const block = rows.subarray(from, from + size);
      const bytes = new Uint8Array(block.buffer, block.byteOffset, block.byteLength);
      names.push(
        createHash("sha256")
          .update(names.at(-1) ?? "")
          .update(bytes)
          .digest("base64"),
      );
    }
    return names;
  }

  get(name: string): Float32Array | undefined {
    const block = this.#blocks.get(name);
    if (block === undefined) return undefined;
    this.#blocks.delete(name);
    this.#blocks.set(name, block);
    return block;
  }

  set(name: string, block: Float32Array): void {
    if (this.#blocks.has(name)) return;
    this.#blocks.set(name, block);
    this.#bytes += block.byteLength;
    for (const [oldest, { byteLength }] of this.#blocks) {
      if (this.#bytes <= this.#mostBytes) return;
      this.#blocks.delete(oldest);
      this.#bytes -= byteLength;
    }
  }
}
