import { GraphFile } from "../../../onnx/graph-file.ts";
import type { Binding, BoundSession } from "../../../onnx/session.ts";
import { float32, int32, int64 } from "../../../onnx/tensor.ts";
import type { Weights } from "../../../onnx/weights-folder.ts";
import { KvCache } from "./kv-cache.ts";
import { newestRow, type TransformerSizes, transformer } from "./transformer.ts";
import { WeightsInGraph } from "./weights-in-graph.ts";

export interface DepthDecoderSizes {
  readonly transformer: TransformerSizes;
  readonly rowWidth: number;
  readonly codes: number;
  /** Codebooks per frame; it scores all but the first. */
  readonly codebooks: number;
}

export interface DepthDecoderParts {
  readonly name: string;
  readonly stem: string;
  /** Projection to the transformer's width; `null` if the widths are equal. */
  readonly projection: { readonly stem: string; readonly hasBias?: boolean } | null;
  readonly sizes: DepthDecoderSizes;
  writeHead(into: WeightsInGraph, x: string, head: number): string;
}

/**
 * Writes the depth decoder. In: `x` float32 [b, n, row width], `head` int64, and the inputs of `transformer`. Out:
 * `logits` float32 [b, codes] of codebook `head` + 1 for the newest row; keys and values.
 */
export function depthDecoderGraph(
  weights: Weights,
  { stem, projection, sizes, writeHead }: DepthDecoderParts,
): GraphFile {
  const { rowWidth, codes, codebooks } = sizes;
  const graph = new GraphFile();
  const into = new WeightsInGraph(graph, weights);
  const x = graph.input("x", "float32", ["b", "n", rowWidth]);
  const head = graph.input("head", "int64", []);
  const projected =
    projection === null
      ? x
      : into.linear(x, projection.stem, rowWidth, sizes.transformer.width, projection.hasBias);
  const newest = newestRow(into, transformer(into, stem, sizes.transformer, projected));
  const inBranch = (branch: GraphFile, at: number): string =>
    writeHead(new WeightsInGraph(branch, weights), newest, at);
  graph.addNamed("logits", "Identity", [selectedHead(graph, head, codebooks - 1, inBranch, ["b", codes])]);
  graph.output("logits", ["b", codes]);
  return graph;
}

/**
 * Writes several heads into a graph that computes only the selected one.
 *
 * @param which int64 scalar: index of the head
 * @param count number of heads
 * @param write writes a head into a graph and returns its result's name
 * @param shape of the result
 * @returns the result's name
 */
function selectedHead(
  graph: GraphFile,
  which: string,
  count: number,
  write: (into: GraphFile, head: number) => string,
  shape: readonly (number | string)[],
): string {
  const between = (into: GraphFile, first: number, end: number): string => {
    if (end - first === 1) return write(into, first);
    const middle = (first + end) >> 1;
    const isBelow = into.add("Less", [which, into.scalar(middle)]);
    const branch = (from: number, to: number): GraphFile => {
      const inner = new GraphFile(`heads.${from}.${to}.`);
      const result = inner.addMany("Identity", [between(inner, from, to)], [`heads.${from}.${to}`])[0]!;
      inner.output(result, shape);
      return inner;
    };
    return into.add("If", [isBelow], {
      then_branch: { graph: branch(first, middle) },
      else_branch: { graph: branch(middle, end) },
    });
  };
  return between(graph, 0, count);
}

/**
 * The small transformer, which scores the remaining codes of a frame in order. Its sequence is one frame: it begins
 * with the state of the large transformer and the first code.
 */
export class DepthDecoder {
  readonly #session: BoundSession;
  readonly #sizes: DepthDecoderSizes;
  readonly #minRows: number;
  readonly #cache: KvCache;
  readonly #pairs: Float32Array;
  readonly #rows: Float32Array;
  readonly #logits: Float32Array;
  readonly #head = new BigInt64Array(1);
  readonly #last: Int32Array;
  readonly #total = new Int32Array(1);
  readonly #bindings = new Map<string, Binding>();

  constructor(session: BoundSession, sizes: DepthDecoderSizes, maxFrames: number, minRows = 1) {
    const slots = Math.max(maxFrames, minRows);
    this.#session = session;
    this.#sizes = sizes;
    this.#minRows = minRows;
    this.#cache = new KvCache({ ...sizes.transformer, positions: sizes.codebooks }, slots);
    this.#cache.ensureCapacity(sizes.codebooks);
    this.#pairs = new Float32Array(slots * 2 * sizes.rowWidth);
    this.#rows = new Float32Array(slots * sizes.rowWidth);
    this.#logits = new Float32Array(slots * sizes.codes);
    this.#last = new Int32Array(slots);
  }

  /** Returns a frame's first two rows to fill before {@link step} with head 0: [2, row width]. */
  pairOf(place: number): Float32Array {
    const size = 2 * this.#sizes.rowWidth;
    return this.#pairs.subarray(place * size, (place + 1) * size);
  }

  /** Returns the row for the last chosen code, to fill before {@link step} with a later head: [row width]. */
  rowOf(place: number): Float32Array {
    const { rowWidth } = this.#sizes;
    return this.#rows.subarray(place * rowWidth, (place + 1) * rowWidth);
  }

  /** Returns a frame's logits, [codes], which the next call overwrites. */
  logitsOf(place: number): Float32Array {
    const { codes } = this.#sizes;
    return this.#logits.subarray(place * codes, (place + 1) * codes);
  }

  /** Computes the logits of codebook `head` + 1 for the first `count` frames. `head` counts up from 0. */
  async step(head: number, count: number): Promise<void> {
    const rows = head === 0 ? 2 : 1;
    this.#head[0] = BigInt(head);
    this.#last.fill(head + 1);
    this.#total[0] = head + 2;
    await this.#bindingFor(Math.max(count, this.#minRows), rows).run();
  }

  #bindingFor(count: number, rows: number): Binding {
    const key = `${count} ${rows}`;
    const bound = this.#bindings.get(key);
    if (bound !== undefined) return bound;
    const { rowWidth, codes } = this.#sizes;
    const x = rows === 2 ? this.#pairs : this.#rows;
    const { past, present } = this.#cache.tensors(0, count);
    const made = this.#session.bind(
      {
        x: float32(x.subarray(0, count * rows * rowWidth), [count, rows, rowWidth]),
        head: int64(this.#head, []),
        last: int32(this.#last.subarray(0, count), [count]),
        total: int32(this.#total, []),
        ...past,
      },
      { logits: float32(this.#logits.subarray(0, count * codes), [count, codes]), ...present },
    );
    this.#bindings.set(key, made);
    return made;
  }
}
