import type { Session } from "../../tensors/session.ts";
import { float32, int32, type Tensors } from "../../tensors/tensor.ts";
import type { TransformerSizes } from "./transformer.ts";

/** A transformer's graph that reads one sequence, and what it keeps of it. */
export class Sequence {
  readonly #session: Session;
  readonly #sizes: TransformerSizes;
  #kept: Tensors;
  #length = 0;

  constructor(session: Session, sizes: TransformerSizes) {
    this.#session = session;
    this.#sizes = sizes;
    const { keyHeads, headWidth, layers } = sizes;
    const none = float32(new Float32Array(0), [1, keyHeads, 0, headWidth]);
    this.#kept = Object.fromEntries(
      Array.from({ length: layers }, (_, at) => [`keys.${at}`, `values.${at}`])
        .flat()
        .map((name) => [`past_${name}`, none]),
    );
  }

  /** Rows that were read. */
  get length(): number {
    return this.#length;
  }

  /**
   * Reads rows.
   *
   * @param rows [n, width of the graph's `x`]
   * @param more what the graph takes besides
   * @returns what the graph gives besides its keys and values
   * @throws Error when the sequence would be longer than the model's positions
   */
  async read(rows: Float32Array, rowWidth: number, more: Tensors = {}): Promise<Tensors> {
    const count = rows.length / rowWidth;
    const total = this.#length + count;
    if (total > this.#sizes.positions) {
      throw new Error(`The model has ${this.#sizes.positions} positions; ${total} are asked for.`);
    }
    const outputs = await this.#session.run({
      x: float32(rows, [1, count, rowWidth]),
      last: int32(Int32Array.of(total - 1), [1]),
      total: int32(Int32Array.of(total), []),
      ...this.#kept,
      ...more,
    });
    const kept: Record<string, Tensors[string]> = {};
    const given: Record<string, Tensors[string]> = {};
    for (const [name, tensor] of Object.entries(outputs)) {
      if (`past_${name}` in this.#kept) kept[`past_${name}`] = tensor;
      else given[name] = tensor;
    }
    this.#kept = kept;
    this.#length = total;
    return given;
  }
}
