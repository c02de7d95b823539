import type { WeightsInGraph } from "./weights-in-graph.ts";

/** Sizes of a causal transformer like Llama. */
export interface TransformerSizes {
  readonly width: number;
  readonly layers: number;
  /** Query heads; adjacent ones share a key and value head. */
  readonly heads: number;
  readonly keyHeads: number;
  readonly headWidth: number;
  /** Width inside the feed-forward network. */
  readonly innerWidth: number;
  readonly epsilon: number;
  readonly rotary: RotarySettings;
  readonly positions: number;
  /** Whether each head's queries and keys are normalised with their own weights, as in Qwen3. */
  readonly hasHeadNorms: boolean;
}

/** Required by onnxruntime's GroupQueryAttention with rotary tables. */
export const HEAD_MULTIPLE = 16;

/**
 * Writes the layers of a transformer and its last norm: RMS norms, grouped queries, rotary embedding, SwiGLU, no
 * biases.
 *
 * Further inputs: `last` int32 [b], the position of the newest row; `total` int32, the number of positions including
 * it; for each layer `past_keys.0`, `past_values.0` …, float32 [b, key heads, before, head width]. Outputs `keys.0`,
 * `values.0` … include the new rows. With more than one new row, b is 1.
 *
 * @param stem prefix of the names: `backbone_model`
 * @param x [b, n, width]: the new rows
 * @returns the normalised rows, [b, n, width]
 */
export function transformer(
  weights: WeightsInGraph,
  stem: string,
  sizes: TransformerSizes,
  x: string,
): string {
  const { graph } = weights;
  const { width, layers, heads, keyHeads, headWidth, innerWidth, epsilon, positions } = sizes;
  // One extra: see `KvCache.ensureCapacity`.
  const known = positions + 1;
  const tables = rotaryTables(known, headWidth, sizes.rotary);
  const cosines = graph.constant(tables.cosines, [known, headWidth / 2], "cosines");
  const sines = graph.constant(tables.sines, [known, headWidth / 2], "sines");
  const last = graph.input("last", "int32", ["b"]);
  const total = graph.input("total", "int32", []);

  const byHead = (rows: string, name: string, count: number): string => {
    if (!sizes.hasHeadNorms) return rows;
    const split = graph.add("Reshape", [rows, graph.integers(0, 0, count, headWidth)]);
    return graph.add("Reshape", [
      weights.rmsNorm(split, name, headWidth, epsilon),
      graph.integers(0, 0, count * headWidth),
    ]);
  };

  let rows = x;
  for (let at = 0; at < layers; at++) {
    const layer = `${stem}.layers.${at}`;
    const own = `${layer}.self_attn`;
    const normal = weights.rmsNorm(rows, `${layer}.input_layernorm`, width, epsilon);
    const queries = weights.linear(normal, `${own}.q_proj`, width, heads * headWidth);
    const keys = weights.linear(normal, `${own}.k_proj`, width, keyHeads * headWidth);
    const values = weights.linear(normal, `${own}.v_proj`, width, keyHeads * headWidth);
    const kept: readonly (number | string)[] = ["b", keyHeads, "before", headWidth];
    const grown: readonly (number | string)[] = ["b", keyHeads, "all", headWidth];
    const attention = graph.addMany(
      "com.microsoft.GroupQueryAttention",
      [
        byHead(queries, `${own}.q_norm`, heads),
        byHead(keys, `${own}.k_norm`, keyHeads),
        values,
        graph.input(`past_keys.${at}`, "float32", kept),
        graph.input(`past_values.${at}`, "float32", kept),
        ...[last, total, cosines, sines],
      ],
      [`attention.${at}`, `keys.${at}`, `values.${at}`],
      { num_heads: heads, kv_num_heads: keyHeads, do_rotary: 1 },
    );
    graph.output(`keys.${at}`, grown);
    graph.output(`values.${at}`, grown);
    const attended = weights.linear(attention[0]!, `${own}.o_proj`, heads * headWidth, width);
    rows = graph.add("Add", [rows, attended]);

    const inner = weights.rmsNorm(rows, `${layer}.post_attention_layernorm`, width, epsilon);
    rows = graph.add("Add", [rows, weights.swiGlu(inner, `${layer}.mlp`, width, innerWidth)]);
  }
  return weights.rmsNorm(rows, `${stem}.norm`, width, epsilon);
}

/** Returns the newest row of [b, n, width] as [b, width]. */
export function newestRow(weights: WeightsInGraph, rows: string): string {
  return weights.graph.add("Gather", [rows, weights.graph.scalar(-1)], { axis: 1 });
}

/** Parameters of rotary embedding (Su et al., "RoFormer", 2021). */
export interface RotarySettings {
  readonly theta: number;
  /** Llama 3's scaling to longer texts, `rope_type` "llama3"; `null`: none. */
  readonly scaling: {
    readonly factor: number;
    readonly lowFactor: number;
    readonly highFactor: number;
    readonly originalPositions: number;
  } | null;
}

/** Returns the rotation per position of each pair of a head's numbers; `width` / 2 of them. */
export function inverseFrequencies(width: number, { theta, scaling }: RotarySettings): Float64Array {
  const frequencies = Float64Array.from({ length: width / 2 }, (_, at) => theta ** ((-2 * at) / width));
  if (scaling === null) return frequencies;
  const { factor, lowFactor, highFactor, originalPositions } = scaling;
  return frequencies.map((frequency) => {
    const turns = (originalPositions * frequency) / (2 * Math.PI);
    if (turns < lowFactor) return frequency / factor;
    if (turns > highFactor) return frequency;
    const share = (turns - lowFactor) / (highFactor - lowFactor);
    return (frequency * (1 - share)) / factor + frequency * share;
  });
}

/** Returns cosines and sines for the first positions, each [positions, width / 2]. */
export function rotaryTables(
  positions: number,
  width: number,
  rotary: RotarySettings,
): { readonly cosines: Float32Array; readonly sines: Float32Array } {
  const frequencies = inverseFrequencies(width, rotary).map(Math.fround);
  const half = width / 2;
  const cosines = new Float32Array(positions * half);
  const sines = new Float32Array(positions * half);
  for (let at = 0; at < cosines.length; at++) {
    const angle = Math.floor(at / half) * frequencies[at % half]!;
    cosines[at] = Math.cos(angle);
    sines[at] = Math.sin(angle);
  }
  return { cosines, sines };
}
