import type { GraphFile } from "../../../onnx/graph-file.ts";
import type { WeightsInGraph } from "./weights-in-graph.ts";

/** A causal convolution over time. */
export interface Convolution {
  readonly ins: number;
  readonly outs: number;
  readonly kernel: number;
  readonly stride?: number;
  readonly dilation?: number;
  readonly hasBias?: boolean;
  /** Padding before the first sample and after the last: zeros, or the sample repeated. */
  readonly edges?: "zeros" | "repeated";
}

export interface LayerState {
  readonly name: string;
  /** Shape for one stream; initially zeros. */
  readonly shape: readonly number[];
}

/** An attention's memory of a stream: keys or values of earlier positions, [heads, positions, width]. */
export interface AttentionCache {
  readonly name: string;
  readonly heads: number;
  readonly width: number;
}

/** Settings shared by a graph's attention layers. */
export interface AttentionLayout {
  readonly headWidth: number;
  readonly theta: number;
  /** Positions that one attends to, including its own; `null`: all before. */
  readonly window: number | null;
}

/**
 * A graph of convolutions and attention that processes signals in chunks: each layer's memory is a state that goes in
 * and out with a chunk, so that the outputs of all chunks join to that of the whole. Signals are [streams, time,
 * channels]; independent streams are computed together. Time precedes channels so that convolutions are matrix
 * products and chunks are joined by copying.
 *
 * Each chunk but the last must be a multiple of the product of the strides.
 */
export class StreamedGraph {
  readonly graph: GraphFile;
  readonly weights: WeightsInGraph;
  readonly #states: LayerState[] = [];
  readonly #attentionCaches: AttentionCache[] = [];
  #attention: AttentionLayout | null = null;

  constructor(weights: WeightsInGraph) {
    this.weights = weights;
    this.graph = weights.graph;
  }

  /** Inputs `name` and outputs `next_name`, [streams, ...shape]. */
  get states(): readonly LayerState[] {
    return this.#states;
  }

  /** Inputs `name`, [streams, heads, positions before, width]; new rows are outputs `new_name`. */
  get attentionCaches(): readonly AttentionCache[] {
    return this.#attentionCaches;
  }

  /** `null` if there is no attention. */
  get attention(): AttentionLayout | null {
    return this.#attention;
  }

  set attention(positions: AttentionLayout) {
    this.#attention = positions;
  }

  /** Adds a state. @returns the name of its value before the chunk, and a function that sets its value after it */
  addState(shape: readonly number[]): { readonly before: string; keep(value: string): void } {
    const name = `state.${this.#states.length}`;
    this.#states.push({ name, shape });
    const loose = (prefix: string) => shape.map((size, at) => (size === 0 ? `${prefix}${name}.${at}` : size));
    this.graph.input(name, "float32", ["streams", ...loose("")]);
    return {
      before: name,
      keep: (value) => {
        this.graph.addNamed(`next_${name}`, "Identity", [value]);
        this.graph.output(`next_${name}`, ["streams", ...loose("next_")]);
      },
    };
  }

  /** Adds keys or values. @param fresh those of the chunk, [streams, heads, n, width] @returns the earlier ones */
  addAttentionCache(fresh: string, heads: number, width: number): string {
    const name = `kept.${this.#attentionCaches.length}`;
    this.#attentionCaches.push({ name, heads, width });
    this.graph.input(name, "float32", ["streams", heads, "before", width]);
    this.graph.addNamed(`new_${name}`, "Identity", [fresh]);
    this.graph.output(`new_${name}`, ["streams", heads, "positions", width]);
    return name;
  }

  /**
   * Writes a convolution, `stem.weight` [outs, ins, kernel] and `stem.bias`, padded by kernel - stride on the left,
   * and on the right to a multiple of the stride.
   */
  convolution(x: string, stem: string, convolution: Convolution): string {
    const { ins, outs, kernel, stride = 1, dilation = 1, hasBias = true } = convolution;
    const { graph, weights } = this;
    const product = (): string => {
      if (kernel === 1) {
        const weight = weights.constant(`${stem}.weight`, [outs, ins, 1], [outs, ins]);
        return graph.add("com.microsoft.FusedMatMul", [x, weight], { transB: 1 });
      }
      const weight = weights.constant(`${stem}.weight`, [outs, ins, kernel]);
      const padded = this.#withHistory(x, convolution);
      if (outs === 1) return this.#convolutionToOneChannel(x, padded, weight, kernel, dilation);
      const taps = this.#tapIndices(x, kernel, stride, dilation);
      const seen = graph.add("Gather", [padded, taps], { axis: 1 });
      const rows = graph.add("Reshape", [seen, graph.integers(0, -1, kernel * ins)]);
      const byTap = graph.add("Transpose", [weight], { perm: [0, 2, 1] });
      const matrix = graph.add("Reshape", [byTap, graph.integers(outs, kernel * ins)]);
      return graph.add("com.microsoft.FusedMatMul", [rows, matrix], { transB: 1 });
    };
    return hasBias ? graph.add("Add", [product(), weights.constant(`${stem}.bias`, [outs])]) : product();
  }

  /**
   * Writes a convolution of a signal in columns, [streams, channels, time], with stride 1 and zero padding. It is
   * faster for many samples and few channels, since no sample is copied per tap.
   */
  convolutionOfColumns(x: string, stem: string, convolution: Convolution): string {
    const { ins, outs, kernel, dilation = 1 } = convolution;
    const { graph, weights } = this;
    const left = (kernel - 1) * dilation;
    let padded = x;
    if (left > 0) {
      const { before, keep } = this.addState([ins, left]);
      padded = graph.add("Concat", [before, x], { axis: 2 });
      keep(this.last(padded, left, 2));
    }
    // onnxruntime is faster with wide kernels as 2D convolutions over a single line.
    const line = kernel > 1 && outs > 1 ? [1] : [];
    const weight = weights.constant(`${stem}.weight`, [outs, ins, kernel], [outs, ins, ...line, kernel]);
    const signal = line.length > 0 ? graph.add("Unsqueeze", [padded, graph.integers(2)]) : padded;
    const convolved = graph.add("Conv", [signal, weight, weights.constant(`${stem}.bias`, [outs])], {
      kernel_shape: [...line, kernel],
      strides: [...line, 1],
      dilations: [...line, dilation],
      group: 1,
    });
    return line.length > 0 ? graph.add("Squeeze", [convolved, graph.integers(2)]) : convolved;
  }

  /** Writes a depthwise convolution, `stem.weight` [channels, 1, kernel] and `stem.bias`. */
  convolutionByChannel(x: string, stem: string, channels: number, kernel: number): string {
    const { graph, weights } = this;
    const padded = this.#withHistory(x, { ins: channels, outs: channels, kernel });
    const seen = graph.add("Gather", [padded, this.#tapIndices(x, kernel, 1, 1)], { axis: 1 });
    const weight = weights.constant(`${stem}.weight`, [channels, 1, kernel], [channels, kernel]);
    const byTap = graph.add("Transpose", [weight], { perm: [1, 0] });
    const products = graph.add("Transpose", [graph.add("Mul", [seen, byTap])], { perm: [2, 0, 1, 3] });
    // Along the first axis, the order of summation does not depend on the number of rows.
    const sum = graph.add("ReduceSum", [products, graph.integers(0)], { keepdims: 0 });
    return graph.add("Add", [sum, weights.constant(`${stem}.bias`, [channels])]);
  }

  /**
   * Writes a transposed convolution with a kernel of one or two strides, `stem.weight` [ins, outs, kernel] and
   * `stem.bias`. Each output sample depends on its input sample and, with two strides, the one before.
   */
  transposed(x: string, stem: string, { ins, outs, kernel, stride = 1 }: Convolution): string {
    const { graph, weights } = this;
    const reach = inputsPerOutput(kernel, stride);
    const rows = this.#withPreviousRows(x, ins, reach);
    const weight = weights.constant(`${stem}.weight`, [ins, outs, kernel], [ins, outs, reach, stride]);
    // With two strides, the kernel's second half applies to the previous sample.
    const byAge = graph.add("Transpose", [weight], { perm: [2, 0, 3, 1] });
    const order = graph.integers(...Array.from({ length: reach }, (_, at) => reach - 1 - at));
    const oldestFirst = graph.add("Gather", [byAge, order], { axis: 0 });
    const matrix = graph.add("Reshape", [oldestFirst, graph.integers(reach * ins, stride * outs)]);
    const product = graph.add("MatMul", [rows, matrix]);
    const long = graph.add("Reshape", [product, graph.integers(0, -1, outs)]);
    return graph.add("Add", [long, weights.constant(`${stem}.bias`, [outs])]);
  }

  /** Writes a depthwise transposed convolution, `stem.weight` [channels, 1, kernel], without a bias. */
  transposedByChannel(x: string, stem: string, channels: number, kernel: number, stride: number): string {
    const { graph, weights } = this;
    const reach = inputsPerOutput(kernel, stride);
    const rows = this.#withPreviousRows(x, channels, reach);
    const seen = graph.add("Reshape", [rows, graph.integers(0, 0, reach, 1, channels)]);
    const weight = weights.constant(`${stem}.weight`, [channels, 1, kernel], [channels, reach, stride]);
    const byAge = graph.add("Transpose", [weight], { perm: [1, 2, 0] });
    const order = graph.integers(...Array.from({ length: reach }, (_, at) => reach - 1 - at));
    const oldestFirst = graph.add("Gather", [byAge, order], { axis: 0 });
    // A sum of two products has only one order.
    const products = graph.add("Mul", [seen, oldestFirst]);
    const sum = graph.add("ReduceSum", [products, graph.integers(2)], { keepdims: 0 });
    return graph.add("Reshape", [sum, graph.integers(0, -1, channels)]);
  }

  slice(x: string, from: number, to: number, axis: number): string {
    const { graph } = this;
    return graph.add("Slice", [x, graph.integers(from), graph.integers(to), graph.integers(axis)]);
  }

  last(x: string, count: number, axis: number): string {
    return this.slice(x, -count, SLICE_END, axis);
  }

  /** Returns the size along an axis: int64, [1]. */
  sizeOf(x: string, axis: number): string {
    return this.graph.add("Shape", [x], { start: axis, end: axis + 1 });
  }

  /** Concatenates each row with the `reach` - 1 rows before it: [streams, n, reach · channels]. */
  #withPreviousRows(x: string, channels: number, reach: number): string {
    if (reach === 1) return x;
    const { before, keep } = this.addState([reach - 1, channels]);
    const padded = this.graph.add("Concat", [before, x], { axis: 1 });
    keep(this.last(padded, reach - 1, 1));
    const seen = this.graph.add("Gather", [padded, this.#tapIndices(x, reach, 1, 1)], { axis: 1 });
    return this.graph.add("Reshape", [seen, this.graph.integers(0, -1, reach * channels)]);
  }

  /** Prepends the kept samples to a chunk, keeps those for the next chunk, and pads on the right. */
  #withHistory(x: string, { ins, kernel, stride = 1, dilation = 1, edges = "zeros" }: Convolution): string {
    const left = (kernel - 1) * dilation + 1 - stride;
    let padded = x;
    if (left > 0) {
      // Repeated samples are known with the first chunk only: until then nothing is kept.
      const { before, keep } = this.addState([edges === "zeros" ? left : 0, ins]);
      padded = this.graph.add("Concat", [before, x], { axis: 1 });
      if (edges === "repeated") padded = this.#repeatFirst(left, before, padded);
      keep(this.last(padded, left, 1));
    }
    return stride > 1 ? this.#padToMultiple(x, padded, stride, edges) : padded;
  }

  /** Writes a convolution to one channel: products with each tap, [streams, all, kernel], then sums along them. */
  #convolutionToOneChannel(
    x: string,
    padded: string,
    weight: string,
    kernel: number,
    dilation: number,
  ): string {
    const { graph } = this;
    const matrix = graph.add("Squeeze", [weight, graph.integers(0)]);
    const products = graph.add("MatMul", [padded, matrix]);
    const count = this.sizeOf(x, 1);
    const terms = Array.from({ length: kernel }, (_, tap) => {
      const from = graph.integers(tap * dilation, tap);
      const to = graph.add(
        "Concat",
        [graph.add("Add", [count, graph.integers(tap * dilation)]), graph.integers(tap + 1)],
        { axis: 0 },
      );
      return graph.add("Slice", [products, from, to, graph.integers(1, 2)]);
    });
    return graph.add("Sum", terms);
  }

  /** Returns the padded samples that each output uses: int64 [n, kernel]. */
  #tapIndices(x: string, kernel: number, stride: number, dilation: number): string {
    const { graph } = this;
    const offsets = BigInt64Array.from({ length: kernel }, (_, tap) => BigInt(tap * dilation));
    let count = this.sizeOf(x, 1);
    if (stride > 1) {
      const more = graph.add("Add", [count, graph.integers(stride - 1)]);
      count = graph.add("Div", [more, graph.integers(stride)]);
    }
    const last = graph.add("Squeeze", [graph.add("Mul", [count, graph.integers(stride)]), graph.integers(0)]);
    const starts = graph.add("Range", [graph.scalar(0), last, graph.scalar(stride)]);
    const column = graph.add("Unsqueeze", [starts, graph.integers(1)]);
    return graph.add("Add", [column, graph.constant(offsets, [1, kernel])]);
  }

  /** Prepends the first sample as often as kept samples are missing. */
  #repeatFirst(count: number, kept: string, x: string): string {
    const { graph } = this;
    const missing = graph.add("Sub", [graph.integers(count), this.sizeOf(kept, 1)]);
    return this.#pad(x, missing, graph.integers(0), "repeated");
  }

  /** Pads on the right to a multiple of x's length. */
  #padToMultiple(x: string, padded: string, multiple: number, edges: "zeros" | "repeated"): string {
    const { graph } = this;
    const size = graph.add("Neg", [this.sizeOf(x, 1)]);
    const missing = graph.add("Mod", [size, graph.integers(multiple)]);
    return this.#pad(padded, graph.integers(0), missing, edges);
  }

  #pad(x: string, left: string, right: string, edges: "zeros" | "repeated"): string {
    const { graph } = this;
    const none = graph.integers(0);
    const pads = graph.add("Concat", [none, left, none, none, right, none], { axis: 0 });
    return graph.add("Pad", [x, pads], { mode: { text: edges === "zeros" ? "constant" : "edge" } });
  }
}

const SLICE_END = Number.MAX_SAFE_INTEGER;

/** Returns the number of input samples per output of a transposed convolution. */
function inputsPerOutput(kernel: number, stride: number): number {
  if (kernel === stride || kernel === 2 * stride) return kernel / stride;
  throw new Error(`A transposed convolution of kernel ${kernel} and stride ${stride} is not known here.`);
}
