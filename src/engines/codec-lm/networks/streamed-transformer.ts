import type { AttentionLayout, StreamedGraph } from "./streamed-graph.ts";

export interface StreamedTransformerSizes extends AttentionLayout {
  /** Width of the rows. */
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  /** Width inside the feed-forward network. */
  readonly innerWidth: number;
  readonly epsilon: number;
}

/** Rotary embedding works on pairs; onnxruntime has no other requirement. */
export const STREAMED_HEAD_MULTIPLE = 2;

/**
 * Writes the layers of a codec's transformer, with layer scales.
 *
 * @param x [streams, time, width]
 * @param stem prefix of the layers' names
 * @param normalised writes a norm of a given name; `feedForward`, what follows the attention: both [streams, time,
 * width]
 */
export function streamedTransformer(
  build: StreamedGraph,
  x: string,
  stem: string,
  sizes: StreamedTransformerSizes,
  normalised: (rows: string, name: string) => string,
  feedForward: (rows: string, stem: string) => string,
): string {
  const { graph, weights } = build;
  const attention = new StreamedAttention(build, sizes);
  const scaled = (rows: string, name: string): string =>
    graph.add("Mul", [rows, weights.constant(`${name}.scale`, [sizes.width])]);
  let rows = x;
  for (let at = 0; at < sizes.layers; at++) {
    const layer = `${stem}.layers.${at}`;
    const attended = attention.attend(normalised(rows, `${layer}.input_layernorm`), `${layer}.self_attn`);
    rows = graph.add("Add", [rows, scaled(attended, `${layer}.self_attn_layer_scale`)]);
    const inner = normalised(rows, `${layer}.post_attention_layernorm`);
    rows = graph.add("Add", [rows, scaled(feedForward(inner, `${layer}.mlp`), `${layer}.mlp_layer_scale`)]);
  }
  return rows;
}

/**
 * Attention of a streamed graph's layers, which share positions.
 *
 * Earlier keys and values stay where the stream keeps them, in any order; a run returns only new ones. The mask and
 * the angles are inputs (`streamed-session.ts`), so that streams of any age are computed together:
 *
 * - `mask` float32 [streams, 1, n, before + n]: 0 where a position may attend, very negative elsewhere;
 * - `angles` int64 [streams, n], indices into `cosines` and `sines` float32 [streams · n, head width / 2].
 */
class StreamedAttention {
  readonly #build: StreamedGraph;
  readonly #sizes: StreamedTransformerSizes;

  constructor(build: StreamedGraph, sizes: StreamedTransformerSizes) {
    this.#build = build;
    this.#sizes = sizes;
    const { graph } = build;
    build.attention = sizes;
    graph.input("mask", "float32", ["streams", 1, "positions", "seen"]);
    graph.input("angles", "int64", ["streams", "positions"]);
    for (const table of ["cosines", "sines"]) graph.input(table, "float32", ["turns", sizes.headWidth / 2]);
  }

  /**
   * Writes the attention of one layer.
   *
   * @param rows [streams, n, width], normalised
   * @param stem prefix of `.q_proj`, `.k_proj`, `.v_proj` and `.o_proj`
   * @returns [streams, n, width]
   */
  attend(rows: string, stem: string): string {
    const build = this.#build;
    const { graph, weights } = build;
    const { width, heads, headWidth } = this.#sizes;
    const attentionWidth = heads * headWidth;
    const project = (name: string): string => weights.linear(rows, `${stem}.${name}`, width, attentionWidth);
    const byHead = (flat: string): string => {
      const split = graph.add("Reshape", [flat, graph.integers(0, 0, heads, headWidth)]);
      return graph.add("Transpose", [split], { perm: [0, 2, 1, 3] });
    };
    const turned = (flat: string): string =>
      graph.add("com.microsoft.RotaryEmbedding", [flat, "angles", "cosines", "sines"], { num_heads: heads });
    const queries = byHead(turned(project("q_proj")));
    const keys = byHead(turned(project("k_proj")));
    const values = byHead(project("v_proj"));
    const keysBefore = build.addAttentionCache(keys, heads, headWidth);
    const valuesBefore = build.addAttentionCache(values, heads, headWidth);
    const products = (others: string): string =>
      graph.add("com.microsoft.FusedMatMul", [queries, others], {
        transB: 1,
        alpha: { float: headWidth ** -0.5 },
      });
    const both = graph.add("Concat", [products(keysBefore), products(keys)], { axis: 3 });
    const shares = graph.add("Softmax", [graph.add("Add", [both, "mask"])], { axis: -1 });
    const sizes = graph.add("Concat", [build.sizeOf(keysBefore, 2), build.sizeOf(keys, 2)], { axis: 0 });
    const [ofBefore, ofNew] = graph.addMany("Split", [shares, sizes], 2, { axis: 3 });
    const attended = graph.add("Add", [
      graph.add("MatMul", [ofBefore!, valuesBefore]),
      graph.add("MatMul", [ofNew!, values]),
    ]);
    const byRow = graph.add("Transpose", [attended], { perm: [0, 2, 1, 3] });
    const flat = graph.add("Reshape", [byRow, graph.integers(0, 0, attentionWidth)]);
    return weights.linear(flat, `${stem}.o_proj`, attentionWidth, width);
  }
}
