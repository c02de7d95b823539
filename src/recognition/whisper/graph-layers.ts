import type { GraphFile } from "../../onnx/graph-file.ts";
import { HEAD_WIDTH } from "./description.ts";
import type { WhisperWeights } from "./whisper-weights.ts";

/** Builders of the layers of both graphs; values are passed by name. */
interface LayerBuilder {
  /** x · weights, dynamically quantised, plus bias. Stacks the outputs of `stems`. */
  linear(x: string, stems: readonly Linear[], ins: number): Promise<string>;
  /** Adds a layer normalisation. */
  normalised(x: string, stem: string): Promise<string>;
  /** [1, n, width] → [1, heads, n, 64] */
  heads(x: string): string;
  /**
   * Attention over scaled queries, keys and values of [1, heads, .., 64]; returns the result and the attention
   * weights. The mask is added to the products.
   */
  attention(queries: string, keys: string, values: string, mask: string): { x: string; weights: string };
  /** Adds a residual feed-forward block. */
  feedForward(x: string, layer: string): Promise<string>;
}

interface Linear {
  readonly stem: string;
  readonly outs: number;
  /** Factor of its results. */
  readonly scale?: number;
  readonly hasBias?: boolean;
}

/** Factor of the queries: a power of two, so scaling the weights is exact. */
export const QUERY_SCALE = HEAD_WIDTH ** -0.5;

export function layerBuilder(graph: GraphFile, weights: WhisperWeights): LayerBuilder {
  const { width, heads: count } = weights.sizes;

  async function linear(x: string, stems: readonly Linear[], ins: number): Promise<string> {
    const outs = stems.reduce((sum, stem) => sum + stem.outs, 0);
    const matrix = new Float32Array(outs * ins);
    const bias = new Float32Array(outs);
    let at = 0;
    for (const { stem, outs: own, scale = 1, hasBias = true } of stems) {
      const rows = await weights.read(`${stem}.weight`, [own, ins]);
      matrix.set(scale === 1 ? rows : rows.map((value) => value * scale), at * ins);
      if (hasBias) {
        const values = await weights.read(`${stem}.bias`, [own]);
        bias.set(scale === 1 ? values : values.map((value) => value * scale), at);
      }
      at += own;
    }
    const product = integerProduct(graph, x, matrix, outs, ins);
    if (bias.every((value) => value === 0)) return product;
    return graph.add("Add", [product, graph.constant(bias, [outs])]);
  }

  async function normalised(x: string, stem: string): Promise<string> {
    const scale = graph.constant(await weights.read(`${stem}.weight`, [width]), [width]);
    const bias = graph.constant(await weights.read(`${stem}.bias`, [width]), [width]);
    return graph.add("LayerNormalization", [x, scale, bias], { axis: -1, epsilon: { float: 1e-5 } });
  }

  return {
    linear,
    normalised,
    heads(x) {
      const split = graph.add("Reshape", [x, graph.integers(0, 0, count, HEAD_WIDTH)]);
      return graph.add("Transpose", [split], { perm: [0, 2, 1, 3] });
    },
    attention(queries, keys, values, mask) {
      const products = graph.add("MatMul", [queries, graph.add("Transpose", [keys], { perm: [0, 1, 3, 2] })]);
      const shares = graph.add("Softmax", [graph.add("Add", [products, mask])], { axis: -1 });
      const byPosition = graph.add("Transpose", [graph.add("MatMul", [shares, values])], {
        perm: [0, 2, 1, 3],
      });
      return { x: graph.add("Reshape", [byPosition, graph.integers(0, 0, width)]), weights: shares };
    },
    async feedForward(x, layer) {
      const wide = 4 * width;
      const inner = await linear(
        await normalised(x, `${layer}.final_layer_norm`),
        [{ stem: `${layer}.fc1`, outs: wide }],
        width,
      );
      const outer = await linear(graph.add("Gelu", [inner]), [{ stem: `${layer}.fc2`, outs: width }], wide);
      return graph.add("Add", [x, outer]);
    },
  };
}

function integerProduct(
  graph: GraphFile,
  x: string,
  weights: Float32Array,
  outs: number,
  ins: number,
): string {
  const { data, scales } = quantised(weights, outs, ins);
  return productWith(graph, x, graph.constant(data, [ins, outs]), graph.constant(scales, [outs]), outs);
}

/**
 * Multiplies by an int8 matrix with dynamic quantisation of x to 8 bits. Operators and order are those of
 * onnxruntime's `quantize_dynamic`, which its optimiser fuses.
 *
 * @param matrix int8 [in, out]
 * @param scales [out]
 */
export function productWith(
  graph: GraphFile,
  x: string,
  matrix: string,
  scales: string,
  outs: number,
): string {
  const [whole, scale, zero] = graph.addMany("DynamicQuantizeLinear", [x], 3) as [string, string, string];
  const none = graph.constant(new Int8Array(outs), [outs], `${matrix}.zeros`);
  const product = graph.add("MatMulInteger", [whole, matrix, zero, none]);
  const asFloat = graph.add("Cast", [product], { to: 1 });
  return graph.add("Mul", [asFloat, graph.add("Mul", [scale, scales])]);
}

/** A quantised matrix: column c is `data[.., c] * scales[c]`. */
interface QuantisedMatrix {
  /** [rows, columns], row-major, -127 to 127. */
  readonly data: Int8Array;
  /** [columns] */
  readonly scales: Float32Array;
}

/**
 * Quantises weights [out, in] symmetrically per output and transposes them to [in, out], as onnxruntime's
 * `quantize_dynamic` with `per_channel` and QInt8.
 */
export function quantised(weights: Float32Array, outs: number, ins: number): QuantisedMatrix {
  const data = new Int8Array(outs * ins);
  const scales = new Float32Array(outs);
  for (let out = 0; out < outs; out++) {
    const row = weights.subarray(out * ins, (out + 1) * ins);
    let max = 0;
    for (const value of row) max = Math.max(max, Math.abs(value));
    const scale = max === 0 ? 1 : Math.fround((2 * max) / 254);
    scales[out] = scale;
    for (let at = 0; at < ins; at++) data[at * outs + out] = halfToEven(Math.fround(row[at]! / scale));
  }
  return { data, scales };
}

function halfToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}
