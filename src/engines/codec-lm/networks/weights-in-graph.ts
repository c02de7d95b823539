import type { GraphFile } from "../../../onnx/graph-file.ts";
import { BLOCK } from "../../../onnx/quantising-kernel.ts";
import type { StoredVariable, Weights } from "../../../onnx/weights-folder.ts";
import { DATA_SUFFIX, SCALES_SUFFIX } from "../quantised-weights.ts";

/** Where weights are, without their numbers. */
export type NamedWeights = Pick<Weights, "variables" | "variable">;

/**
 * Weights as constants of a graph, which refers to where they are in their file: none of them is read here.
 * onnxruntime uses float32 in place; what is 16 bits wide it widens once, when the graph is loaded.
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
   * A variable as float32.
   *
   * @param shape what it has to be; `as` the shape that the graph sees it in, if another of the same size
   * @throws WeightsError when it is missing or of another shape
   */
  constant(name: string, shape: readonly number[], as = shape): string {
    const variable = this.#weights.variable(name, shape);
    return this.#external(name, { ...variable, shape: as });
  }

  /** x · one of the matrices that `name`, [parts, ins, outs], is stacked of. @throws WeightsError as `constant` does */
  productWithLayer(x: string, name: string, shape: readonly [number, number, number], at: number): string {
    const [parts, ins, outs] = shape;
    const inBlocks = this.#quantisedProduct(x, `${name}.${at}`, ins, outs);
    if (inBlocks !== null) return inBlocks;
    const variable = this.#weights.variable(name, shape);
    const bytes = variable.bytes / parts;
    const part = { ...variable, shape: [ins, outs], from: variable.from + at * bytes, bytes };
    return this.graph.add("MatMul", [x, this.#external(`${name}.${at}`, part)]);
  }

  /** x · weights, which are [outs, ins] in their file, plus the bias, if it has one. x and the result are [.., n]. */
  linear(x: string, stem: string, ins: number, outs: number, hasBias = false): string {
    const name = `${stem}.weight`;
    const product =
      this.#quantisedProduct(x, name, ins, outs) ??
      this.graph.add("com.microsoft.FusedMatMul", [x, this.constant(name, [outs, ins])], { transB: 1 });
    return hasBias ? this.graph.add("Add", [product, this.constant(`${stem}.bias`, [outs])]) : product;
  }

  /** The root-mean-square norm of rows [.., width], with weights `name.weight`. */
  rmsNorm(x: string, name: string, width: number, epsilon: number): string {
    return this.graph.add("SimplifiedLayerNormalization", [x, this.constant(`${name}.weight`, [width])], {
      axis: -1,
      epsilon: { float: epsilon },
    });
  }

  /** The norm of rows [.., width] by mean and variance, with `name.weight` and `name.bias`. */
  layerNorm(x: string, name: string, width: number, epsilon: number): string {
    return this.graph.add(
      "LayerNormalization",
      [x, this.constant(`${name}.weight`, [width]), this.constant(`${name}.bias`, [width])],
      { axis: -1, epsilon: { float: epsilon } },
    );
  }

  /** A feed-forward part with a gate (SwiGLU): `stem.gate_proj`, `stem.up_proj` and `stem.down_proj`. */
  swiGlu(x: string, stem: string, width: number, innerWidth: number): string {
    const { graph } = this;
    const gate = this.linear(x, `${stem}.gate_proj`, width, innerWidth);
    const up = this.linear(x, `${stem}.up_proj`, width, innerWidth);
    const gated = graph.add("Mul", [graph.add("Mul", [gate, graph.add("Sigmoid", [gate])]), up]);
    return this.linear(gated, `${stem}.down_proj`, innerWidth, width);
  }

  /** The product with a matrix that was quantised (`quantised-weights.ts`); `null` where it was not. */
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
        // Products of 8-bit numbers: the only ones that do not depend on what else is in the batch.
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
