import { inverseFrequencies } from "./rotary.ts";
import type { StreamedGraph } from "./streamed-graph.ts";

export interface AttentionSizes {
  /** Of the rows. */
  readonly width: number;
  readonly heads: number;
  readonly headWidth: number;
  /** How far positions turn queries and keys: the base of their frequencies. */
  readonly theta: number;
  /** Positions, its own among them, that one looks at; `null`: all before. */
  readonly window: number | null;
}

/**
 * The attention of a streamed graph's layers, whose positions are the same ones.
 *
 * Keys are kept as they were before they were turned, and positions counted from the first that is kept: attention looks
 * at differences alone, so a stream may go on without end.
 */
export class StreamedAttention {
  readonly #build: StreamedGraph;
  readonly #sizes: AttentionSizes;
  #places: Places | null = null;

  constructor(build: StreamedGraph, sizes: AttentionSizes) {
    this.#build = build;
    this.#sizes = sizes;
  }

  /**
   * One layer's, with its four projections.
   *
   * @param rows [1, n, width], normalised
   * @param stem in front of `.q_proj`, `.k_proj`, `.v_proj` and `.o_proj`
   * @returns [1, n, width]
   */
  attend(rows: string, stem: string): string {
    const build = this.#build;
    const { graph, weights } = build;
    const { width, heads, headWidth, window } = this.#sizes;
    const attentionWidth = heads * headWidth;
    const project = (name: string): string => {
      const flat = weights.linear(rows, `${stem}.${name}`, width, attentionWidth);
      const split = graph.add("Reshape", [flat, graph.integers(0, 0, heads, headWidth)]);
      return graph.add("Transpose", [split], { perm: [0, 2, 1, 3] });
    };
    const grown = (name: string): string => {
      const { before, keep } = build.state([1, heads, 0, headWidth]);
      const all = graph.add("Concat", [before, project(name)], { axis: 2 });
      keep(window === null ? all : build.lastOf(all, window - 1, 2));
      return all;
    };
    const keys = grown("k_proj");
    const values = grown("v_proj");
    this.#places ??= placesOf(build, rows, keys, this.#sizes);
    const { ofKeys, ofQueries, mask } = this.#places;
    const queries = turned(build, project("q_proj"), ofQueries, headWidth);
    const products = graph.add(
      "com.microsoft.FusedMatMul",
      [queries, turned(build, keys, ofKeys, headWidth)],
      { transB: 1, alpha: { float: headWidth ** -0.5 } },
    );
    const shares = graph.add("Softmax", [graph.add("Add", [products, mask])], { axis: -1 });
    const attended = graph.add("Transpose", [graph.add("MatMul", [shares, values])], { perm: [0, 2, 1, 3] });
    const flat = graph.add("Reshape", [attended, graph.integers(0, 0, attentionWidth)]);
    return weights.linear(flat, `${stem}.o_proj`, attentionWidth, width);
  }
}

/** Cosine and sine of each position's angles, [n, head width / 2]. */
interface Angles {
  readonly cosines: string;
  readonly sines: string;
}

interface Places {
  readonly ofKeys: Angles;
  readonly ofQueries: Angles;
  /** [new, all]: 0 where a new position may look, very negative where not. */
  readonly mask: string;
}

function placesOf(build: StreamedGraph, rows: string, keys: string, sizes: AttentionSizes): Places {
  const { graph } = build;
  const { headWidth, theta, window } = sizes;
  const count = (x: string, axis: number): string =>
    graph.add("Squeeze", [build.sizeOf(x, axis), graph.integers(0)]);
  const total = count(keys, 2);
  const before = graph.add("Sub", [total, count(rows, 1)]);
  const all = graph.add("Range", [graph.scalar(0), total, graph.scalar(1)]);
  const fresh = graph.add("Range", [before, total, graph.scalar(1)]);
  const frequencies = Float32Array.from(inverseFrequencies(headWidth, { theta, stretched: null }));
  const row = graph.constant(frequencies, [1, headWidth / 2]);
  const anglesOf = (places: string): Angles => {
    const column = graph.add("Cast", [graph.add("Unsqueeze", [places, graph.integers(1)])], { to: 1 });
    const angles = graph.add("Mul", [column, row]);
    return { cosines: graph.add("Cos", [angles]), sines: graph.add("Sin", [angles]) };
  };
  const distance = graph.add("Sub", [graph.add("Unsqueeze", [fresh, graph.integers(1)]), all]);
  let isHidden = graph.add("Less", [distance, graph.scalar(0)]);
  if (window !== null) {
    const isFar = graph.add("GreaterOrEqual", [distance, graph.scalar(window)]);
    isHidden = graph.add("Or", [isHidden, isFar]);
  }
  const mask = graph.add("Where", [isHidden, graph.number(-1e30), graph.number(0)]);
  return { ofKeys: anglesOf(all), ofQueries: anglesOf(fresh), mask };
}

/** Turns the two halves of each head's numbers against one another, [1, heads, n, head width]. */
function turned(build: StreamedGraph, x: string, { cosines, sines }: Angles, headWidth: number): string {
  const { graph } = build;
  const half = headWidth / 2;
  const [low, high] = [build.slice(x, 0, half, 3), build.slice(x, half, headWidth, 3)];
  const product = (a: string, b: string): string => graph.add("Mul", [a, b]);
  const first = graph.add("Sub", [product(low, cosines), product(high, sines)]);
  const second = graph.add("Add", [product(high, cosines), product(low, sines)]);
  return graph.add("Concat", [first, second], { axis: 3 });
}
