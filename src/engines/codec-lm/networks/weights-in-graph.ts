import type { GraphFile } from "../../../onnx/graph-file.ts";
import { BLOCK } from "../../../onnx/quantising-kernel.ts";
import type { StoredVariable, Weights } from "../../../onnx/weights-folder.ts";
import { DATA_SUFFIX, SCALES_SUFFIX } from "../quantised-weights.ts";

export type NamedWeights = Pick<Weights, "variables" | "variable">;

/**
 * Adds weights to a graph as references into their files, without reading them. onnxruntime uses float32 in place,
 * and converts 16-bit numbers once when it loads the graph.
 */
export class WeightsInGraph {
  readonly graph: GraphFile;
  readonly #weights: NamedWeights;
  readonly #casts = new Map<string, string>();

  constructor(graph: GraphFile, weights: NamedWeights) {
    this.graph = graph;
    this.#weights = weights;
  }

  /**
   * Adds a variable as float32.
   *
   * @param shape expected; `as`: shape in the graph, if it is another of the same size
   * @throws WeightsError if it is missing or has another shape
   */
  constant(name: string, shape: readonly number[], as = shape): string {
    const variable = this.#weights.variable(name, shape);
    return this.#external(name, { ...variable, shape: as });
  }

  /**
   * Writes x · one of the matrices stacked in `name`, [layers, ins, outs]. @throws WeightsError as `constant` does
   */
  productWithLayer(x: string, name: string, shape: readonly [number, number, number], at: number): string {
    const [parts, ins, outs] = shape;
    const inBlocks = this.#quantisedProduct(x, `${name}.${at}`, ins, outs);
    if (inBlocks !== null) return inBlocks;
    const variable = this.#weights.variable(name, shape);
    const bytes = variable.bytes / parts;
    const part = { ...variable, shape: [ins, outs], from: variable.from + at * bytes, bytes };
    return this.graph.add("MatMul", [x, this.#external(`${name}.${at}`, part)]);
  }

  /** Writes x · weights, stored as [outs, ins], plus an optional bias. x and the result are [.., n]. */
  linear(x: string, stem: string, ins: number, outs: number, hasBias = false): string {
    const name = `${stem}.weight`;
    const product =
      this.#quantisedProduct(x, name, ins, outs) ??
      this.graph.add("com.microsoft.FusedMatMul", [x, this.constant(name, [outs, ins])], { transB: 1 });
    return hasBias ? this.graph.add("Add", [product, this.constant(`${stem}.bias`, [outs])]) : product;
  }

  /** Writes an RMS norm of rows [.., width] with `name.weight`. */
  rmsNorm(x: string, name: string, width: number, epsilon: number): string {
    return this.graph.add("SimplifiedLayerNormalization", [x, this.constant(`${name}.weight`, [width])], {
      axis: -1,
      epsilon: { float: epsilon },
    });
  }

  /** Writes a layer norm of rows [.., width] with `name.weight` and `name.bias`. */
  layerNorm(x: string, name: string, width: number, epsilon: number): string {
    return this.graph.add(
      "LayerNormalization",
      [x, this.constant(`${name}.weight`, [width]), this.constant(`${name}.bias`, [width])],
      { axis: -1, epsilon: { float: epsilon } },
    );
  }

  /** Writes a SwiGLU feed-forward network: `stem.gate_proj`, `stem.up_proj` and `stem.down_proj`. */
  swiGlu(x: string, stem: string, width: number, innerWidth: number): string {
    const { graph } = this;
    const gate = this.linear(x, `${stem}.gate_proj`, width, innerWidth);
    const up = this.linear(x, `${stem}.up_proj`, width, innerWidth);
    const gated = graph.add("Mul", [graph.add("Mul", [gate, graph.add("Sigmoid", [gate])]), up]);
    return this.linear(gated, `${stem}.down_proj`, innerWidth, width);
  }

  /** Writes the product with a quantised matrix (`quantised-weights.ts`); `null` if it is not quantised. */
  #quantisedProduct(x: string, name: string, ins: number, outs: number): string | null {
    const data = this.#weights.variables.get(name + DATA_SUFFIX);
    const scales = this.#weights.variables.get(name + SCALES_SUFFIX);
    if (data === undefined || scales === undefined) return null;
    return this.graph.add(
      "com.microsoft.MatMulNBits",
      [x, this.#external(name + DATA_SUFFIX, data), this.#external(name + SCALES_SUFFIX, scales)],
      {
        K: ins,
        N: outs,
        bits: (data.shape[2]! * 8) / BLOCK,
        block_size: BLOCK,
        // Multiplies 8-bit numbers: the only level whose results do not depend on the batch.
        accuracy_level: 4,
      },
    );
  }

  #external(name: string, variable: StoredVariable): string {
    const { type, shape } = variable;
    if (type === "other") throw new Error(`${name} is of a type that no graph has.`);
    const placed = this.graph.external(name, { ...variable, type });
    if (type === "float32" || type === "uint8") return placed;
    const key = `${name}[${shape}]`;
    const widened = this.#casts.get(key) ?? this.graph.add("Cast", [placed], { to: 1 });
    this.#casts.set(key, widened);
    return widened;
  }
}
