import { createHash } from "node:crypto";
import { float32, type Tensors } from "../../../onnx/tensor.ts";
import type { TransformerSizes } from "./transformer.ts";

const MIN_CAPACITY = 512;

/**
 * Keys and values of sequences in slots: for each layer float32 [slots, key heads, capacity, head width]. A graph
 * reads them and writes new rows into them. Grows on demand.
 */
export class KvCache {
  readonly #sizes: TransformerSizes;
  readonly #slots: number;
  readonly #lengths: Int32Array;
  #capacity = 0;
  /** keys.0, values.0, keys.1 … */
  #arrays: Float32Array[] = [];

  constructor(sizes: TransformerSizes, slots: number) {
    this.#sizes = sizes;
    this.#slots = slots;
    this.#lengths = new Int32Array(slots);
  }

  /** Number of reallocations: bindings to older arrays are invalid. */
  generation = 0;

  lengthOf(slot: number): number {
    return this.#lengths[slot]!;
  }

  setLength(slot: number, length: number): void {
    this.#lengths[slot] = length;
  }

  /**
   * Grows to `positions` per slot plus one, because an idle slot gets a row written after its last one.
   *
   * @throws Error if the model has fewer positions
   */
  ensureCapacity(positions: number): void {
    const max = this.#sizes.positions;
    if (positions > max) throw new Error(`The model has ${max} positions; ${positions} are asked for.`);
    if (positions < this.#capacity) return;
    let capacity = Math.max(this.#capacity, MIN_CAPACITY);
    while (capacity <= positions) capacity *= 2;
    this.#grow(Math.min(capacity, max + 1));
  }

  /** Frees the memory. All sequences are lost. */
  clear(): void {
    this.#lengths.fill(0);
    this.#arrays = [];
    this.#capacity = 0;
    this.generation++;
  }

  /** Returns a graph's inputs and outputs for adjacent slots, which share memory. */
  tensors(first: number, count: number): { readonly past: Tensors; readonly present: Tensors } {
    const { keyHeads, headWidth } = this.#sizes;
    const stride = this.#stride;
    const shape = [count, keyHeads, this.#capacity, headWidth];
    const named = this.#arrays.map((array, at) => {
      const tensor = float32(array.subarray(first * stride, (first + count) * stride), shape);
      return [`${at % 2 === 0 ? "keys" : "values"}.${at >> 1}`, tensor] as const;
    });
    return {
      past: Object.fromEntries(named.map(([name, tensor]) => [`past_${name}`, tensor])),
      present: Object.fromEntries(named),
    };
  }

  /** Copies positions out of a slot: [layers · 2, key heads, count, head width]. */
  copyOut(slot: number, from: number, count: number): Float32Array {
    const { keyHeads, headWidth } = this.#sizes;
    const piece = count * headWidth;
    const copy = new Float32Array(this.#arrays.length * keyHeads * piece);
    this.#forEachHead(slot, from, (array, begin, at) =>
      copy.set(array.subarray(begin, begin + piece), at * piece),
    );
    return copy;
  }

  /** Copies such positions into a slot, which must have capacity. */
  copyIn(slot: number, from: number, copy: Float32Array): void {
    const piece = copy.length / (this.#arrays.length * this.#sizes.keyHeads);
    this.#forEachHead(slot, from, (array, begin, at) =>
      array.set(copy.subarray(at * piece, (at + 1) * piece), begin),
    );
  }

  get #stride(): number {
    return this.#sizes.keyHeads * this.#capacity * this.#sizes.headWidth;
  }

  #forEachHead(
    slot: number,
    from: number,
    visit: (array: Float32Array, begin: number, at: number) => void,
  ): void {
    const { keyHeads, headWidth } = this.#sizes;
    for (const [layer, array] of this.#arrays.entries()) {
      for (let head = 0; head < keyHeads; head++) {
        const row = (slot * keyHeads + head) * this.#capacity + from;
        visit(array, row * headWidth, layer * keyHeads + head);
      }
    }
  }

  /** Reallocates one array at a time, so that only one exists twice. */
  #grow(capacity: number): void {
    const { layers, keyHeads, headWidth } = this.#sizes;
    const before = this.#capacity;
    const rows = this.#slots * keyHeads;
    if (this.#arrays.length === 0)
      this.#arrays = Array.from({ length: 2 * layers }, () => new Float32Array(0));
    for (const [at, old] of this.#arrays.entries()) {
      const grown = new Float32Array(rows * capacity * headWidth);
      for (let row = 0; row < rows; row++) {
        const from = row * before * headWidth;
        const used = this.lengthOf(Math.floor(row / keyHeads)) * headWidth;
        grown.set(old.subarray(from, from + used), row * capacity * headWidth);
      }
      this.#arrays[at] = grown;
    }
    this.#capacity = capacity;
    this.generation++;
  }
}

/** Positions per block: prompts are read in blocks. */
export const BLOCK_POSITIONS = 32;

/**
 * Cache of keys and values of prompts, in blocks, so that a prompt with a known beginning need not be read again. A
 * block's key covers its rows and all before it; its content is exact, since prompts are always read in these blocks.
 */
export class PrefixCache {
  readonly #maxBytes: number;
  /** Least recently used first. */
  readonly #blocks = new Map<string, Float32Array>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the keys of a prompt's whole blocks. @param rows [n, width] */
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
