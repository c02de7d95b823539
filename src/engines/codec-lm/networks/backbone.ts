import { GraphFile } from "../../../onnx/graph-file.ts";
import type { Binding, BoundSession } from "../../../onnx/session.ts";
import { float32, int32 } from "../../../onnx/tensor.ts";
import type { Weights } from "../../../onnx/weights-folder.ts";
import { KvCache } from "./kv-cache.ts";
import { newestRow, type TransformerSizes, transformer } from "./transformer.ts";
import { WeightsInGraph } from "./weights-in-graph.ts";

/** Sizes of the large transformer, which reads the conversation and scores each frame's first code. */
export interface BackboneSizes extends TransformerSizes {
  readonly codes: number;
}

export interface BackboneParts {
  readonly name: string;
  readonly stem: string;
  readonly head: string;
  readonly sizes: BackboneSizes;
}

/**
 * Writes the backbone. In: `x` float32 [b, n, width], and the inputs of `transformer`. Out: `hidden` float32 [b, n,
 * width], after the last norm; `logits` float32 [b, codes] of the newest row; keys and values.
 */
export function backboneGraph(weights: Weights, { stem, head, sizes }: BackboneParts): GraphFile {
  const graph = new GraphFile();
  const into = new WeightsInGraph(graph, weights);
  const x = graph.input("x", "float32", ["b", "n", sizes.width]);
  const hidden = transformer(into, stem, sizes, x);
  graph.addNamed("hidden", "Identity", [hidden]);
  graph.output("hidden", ["b", "n", sizes.width]);
  graph.addNamed("logits", "Identity", [
    into.linear(newestRow(into, hidden), head, sizes.width, sizes.codes),
  ]);
  graph.output("logits", ["b", sizes.codes]);
  return graph;
}

export interface BackboneOutput {
  /** [width], after the last norm. */
  readonly hidden: Float32Array;
  /** [codes] */
  readonly logits: Float32Array;
}

/** The large transformer with the sequences in its slots. */
export class Backbone {
  readonly cache: KvCache;
  readonly #session: BoundSession;
  readonly #sizes: BackboneSizes;
  readonly #minRows: number;
  /** [slots, width], the rows that `step` reads. */
  readonly #rows: Float32Array;
  readonly #hidden: Float32Array;
  readonly #logits: Float32Array;
  readonly #last: Int32Array;
  readonly #total = new Int32Array(1);
  #bindings: Binding[] = [];
  #generation = -1;

  constructor(session: BoundSession, sizes: BackboneSizes, places: number, minRows = 1) {
    const slots = Math.max(places, minRows);
    this.#session = session;
    this.#sizes = sizes;
    this.#minRows = minRows;
    this.cache = new KvCache(sizes, slots);
    this.#rows = new Float32Array(slots * sizes.width);
    this.#hidden = new Float32Array(slots * sizes.width);
    this.#logits = new Float32Array(slots * sizes.codes);
    this.#last = new Int32Array(slots);
  }

  /**
   * Reads the next rows of one sequence.
   *
   * @param rows [n, width]
   * @returns the hidden states of all rows, [n, width], and the logits of the newest
   */
  async read(slot: number, rows: Float32Array): Promise<BackboneOutput> {
    const { width, codes } = this.#sizes;
    const count = rows.length / width;
    const total = this.cache.lengthOf(slot) + count;
    this.cache.ensureCapacity(total);
    const { past, present } = this.cache.tensors(slot, 1);
    const hidden = new Float32Array(rows.length);
    const logits = new Float32Array(codes);
    const inputs = {
      x: float32(rows, [1, count, width]),
      last: int32(Int32Array.of(total - 1), [1]),
      total: int32(Int32Array.of(total), []),
      ...past,
    };
    const outputs = {
      hidden: float32(hidden, [1, count, width]),
      logits: float32(logits, [1, codes]),
      ...present,
    };
    await this.#session.bind(inputs, outputs).run();
    this.cache.setLength(slot, total);
    return { hidden, logits };
  }

  /** Returns the row of a slot to fill before {@link step}: [width]. */
  rowOf(slot: number): Float32Array {
    const { width } = this.#sizes;
    return this.#rows.subarray(slot * width, (slot + 1) * width);
  }

  async step(slots: readonly number[]): Promise<BackboneOutput[]> {
    const { cache } = this;
    const { width, codes } = this.#sizes;
    for (const slot of slots) cache.ensureCapacity(cache.lengthOf(slot) + 1);
    const count = Math.max(this.#minRows, Math.max(...slots) + 1);
    // An idle slot in between gets a row written after its own, which its next row overwrites.
    for (let slot = 0; slot < count; slot++) this.#last[slot] = cache.lengthOf(slot);
    this.#total[0] = Math.max(...this.#last.subarray(0, count)) + 1;
    await this.#bindingFor(count).run();
    return slots.map((slot) => {
      cache.setLength(slot, cache.lengthOf(slot) + 1);
      return {
        hidden: this.#hidden.slice(slot * width, (slot + 1) * width),
        logits: this.#logits.slice(slot * codes, (slot + 1) * codes),
      };
    });
  }

  #bindingFor(count: number): Binding {
    if (this.#generation !== this.cache.generation) this.#bindings = [];
    this.#generation = this.cache.generation;
    const { width, codes } = this.#sizes;
    const { past, present } = this.cache.tensors(0, count);
    this.#bindings[count] ??= this.#session.bind(
      {
        x: float32(this.#rows.subarray(0, count * width), [count, 1, width]),
        last: int32(this.#last.subarray(0, count), [count]),
        total: int32(this.#total, []),
        ...past,
      },
      {
        hidden: float32(this.#hidden.subarray(0, count * width), [count, 1, width]),
        logits: float32(this.#logits.subarray(0, count * codes), [count, codes]),
        ...present,
      },
    );
    return this.#bindings[count];
  }
}
