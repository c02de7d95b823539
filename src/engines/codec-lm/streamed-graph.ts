import type { GraphFile } from "../../tensors/graph-file.ts";
import type { Session } from "../../tensors/session.ts";
import { float32, type Tensor, type Tensors } from "../../tensors/tensor.ts";
import type { WeightsInGraph } from "./weights-in-graph.ts";

/** A convolution over time that looks at nothing to come. */
export interface Convolution {
  readonly ins: number;
  readonly outs: number;
  readonly kernel: number;
  readonly stride?: number;
  readonly dilation?: number;
  readonly groups?: number;
  readonly hasBias?: boolean;
  /** What stands ahead of the first sample and behind the last: zeros, or that sample again. */
  readonly edges?: "zeros" | "repeated";
}

/**
 * A graph of convolutions and attention that may be run on a signal piece by piece: what a layer has to remember is a
 * state that goes in with a piece and comes out for the next, so that the pieces' results, one behind the other, are
 * those of the whole. Signals are [1, channels, time].
 *
 * Each piece but the last has to be a multiple of what the strides multiply up to.
 */
export class StreamedGraph {
  readonly graph: GraphFile;
  readonly weights: WeightsInGraph;
  readonly #states: { readonly name: string; readonly shape: readonly number[] }[] = [];

  constructor(weights: WeightsInGraph) {
    this.weights = weights;
    this.graph = weights.graph;
  }

  /** The states, each of zeros or empty, that the first piece goes in with. */
  get beginning(): Tensors {
    const zeros = (shape: readonly number[]): Tensor =>
      float32(new Float32Array(shape.reduce((product, size) => product * size, 1)), shape);
    return Object.fromEntries(this.#states.map(({ name, shape }) => [name, zeros(shape)]));
  }

  /** Adds a state. @returns the name of what was kept of the pieces before, and what to call with what is to be kept. */
  state(shape: readonly number[]): { readonly before: string; keep(value: string): void } {
    const name = `state.${this.#states.length}`;
    this.#states.push({ name, shape });
    const loose = shape.map((size, at) => (size === 0 ? `${name}.${at}` : size));
    this.graph.input(name, "float32", loose);
    return {
      before: name,
      keep: (value) => {
        this.graph.addNamed(`next_${name}`, "Identity", [value]);
        this.graph.output(
          `next_${name}`,
          shape.map((size, at) => (size === 0 ? `next_${name}.${at}` : size)),
        );
      },
    };
  }

  /**
   * A convolution, `stem.weight` [outs, ins / groups, kernel] and `stem.bias`. It is padded by kernel - stride on the left,
   * and on the right to a multiple of the stride.
   */
  convolution(x: string, stem: string, convolution: Convolution): string {
    const { ins, outs, kernel, stride = 1, dilation = 1, groups = 1, hasBias = true } = convolution;
    const { edges = "zeros" } = convolution;
    const left = (kernel - 1) * dilation + 1 - stride;
    let padded = x;
    if (left > 0) {
      // Repeated samples are known with the first piece: until then nothing is kept.
      const { before, keep } = this.state([1, ins, edges === "zeros" ? left : 0]);
      padded = this.graph.add("Concat", [before, x], { axis: 2 });
      if (edges === "repeated") padded = this.#repeatedTo(left, before, padded);
      keep(this.lastOf(padded, left, 2));
    }
    if (stride > 1) padded = this.#filledUp(x, padded, stride, edges);
    const inputs = [padded, this.weights.constant(`${stem}.weight`, [outs, ins / groups, kernel])];
    if (hasBias) inputs.push(this.weights.constant(`${stem}.bias`, [outs]));
    return this.graph.add("Conv", inputs, {
      kernel_shape: [kernel],
      strides: [stride],
      dilations: [dilation],
      group: groups,
    });
  }

  /**
   * A transposed convolution, `stem.weight` [ins, outs / groups, kernel] and `stem.bias`: stride times as many samples.
   * What hangs over the end is kept, and added to the next piece.
   */
  transposed(x: string, stem: string, convolution: Convolution): string {
    const { ins, outs, kernel, stride = 1, groups = 1, hasBias = true } = convolution;
    const { graph } = this;
    const weight = this.weights.constant(`${stem}.weight`, [ins, outs / groups, kernel]);
    let y = graph.add("ConvTranspose", [x, weight], {
      kernel_shape: [kernel],
      strides: [stride],
      group: groups,
    });
    const over = kernel - stride;
    if (over > 0) {
      const { before, keep } = this.state([1, outs, over]);
      const start = graph.add("Add", [this.slice(y, 0, over, 2), before]);
      const whole = graph.add("Concat", [start, this.slice(y, over, END, 2)], { axis: 2 });
      keep(this.lastOf(whole, over, 2));
      y = this.slice(whole, 0, -over, 2);
    }
    return hasBias ? graph.add("Add", [y, this.weights.constant(`${stem}.bias`, [outs], [outs, 1])]) : y;
  }

  slice(x: string, from: number, to: number, axis: number): string {
    const { graph } = this;
    return graph.add("Slice", [x, graph.integers(from), graph.integers(to), graph.integers(axis)]);
  }

  lastOf(x: string, count: number, axis: number): string {
    return this.slice(x, -count, END, axis);
  }

  /** The number of samples in a signal, or of whatever the axis counts: int64, [1]. */
  sizeOf(x: string, axis: number): string {
    return this.graph.add("Shape", [x], { start: axis, end: axis + 1 });
  }

  /** Puts the first sample in front as often as what was kept falls short. */
  #repeatedTo(count: number, kept: string, x: string): string {
    const { graph } = this;
    const missing = graph.add("Sub", [graph.integers(count), this.sizeOf(kept, 2)]);
    return this.#padded(x, missing, graph.integers(0), "repeated");
  }

  /** Fills up on the right what x is short of a multiple. */
  #filledUp(x: string, padded: string, multiple: number, edges: "zeros" | "repeated"): string {
    const { graph } = this;
    const size = graph.add("Neg", [this.sizeOf(x, 2)]);
    const missing = graph.add("Mod", [size, graph.integers(multiple)]);
    return this.#padded(padded, graph.integers(0), missing, edges);
  }

  #padded(x: string, left: string, right: string, edges: "zeros" | "repeated"): string {
    const { graph } = this;
    const none = graph.integers(0, 0);
    const pads = graph.add("Concat", [none, left, none, right], { axis: 0 });
    return graph.add("Pad", [x, pads], { mode: { text: edges === "zeros" ? "constant" : "edge" } });
  }
}

const END = Number.MAX_SAFE_INTEGER;

/** A signal that goes through such a graph piece by piece. */
export class Stream {
  readonly #session: Session;
  #states: Tensors;

  constructor(session: Session, beginning: Tensors) {
    this.#session = session;
    this.#states = beginning;
  }

  /** @returns what the graph gives for the next piece */
  async next(piece: Tensors): Promise<Tensors> {
    const outputs = await this.#session.run({ ...piece, ...this.#states });
    const given: Record<string, Tensor> = {};
    const states: Record<string, Tensor> = {};
    for (const [name, tensor] of Object.entries(outputs)) {
      if (name.startsWith("next_")) states[name.slice("next_".length)] = tensor;
      else given[name] = tensor;
    }
    this.#states = states;
    return given;
  }
}
