import { WeightsError } from "../../../onnx/byte-source.ts";
import {
  type GraphNode,
  node,
  type StoredConstant,
  type StoredGraph,
  storedConstant,
  type ValueInfo,
  withoutAttribute,
} from "../../../onnx/stored-graph.ts";
import type { Subgraph } from "./subgraphs.ts";

export interface KokoroLayerState {
  /** The graph takes `past.name` and returns `next.name`. */
  readonly name: string;
  readonly channels: number;
  /** Columns of zeros at the start: the layer's left padding, or none. */
  readonly initial: number;
}

export interface StreamingGraph {
  readonly part: Subgraph;
  readonly states: readonly KokoroLayerState[];
  /** Columns by which the output lags the input. */
  readonly missing: number;
}

interface Track {
  readonly channels: number;
  /** Columns per column of the slowest input. */
  readonly rate: number;
  /** Columns still to come while more pieces follow: `rate` times the input, less the output. */
  readonly missing: number;
}

/**
 * Turns a graph of convolutions into one that takes its input in pieces of any length, with exactly the same results.
 * Each layer with a kernel keeps the columns of its input that the next piece needs; where two paths meet, the one
 * that is ahead waits. Two more inputs, `first` and `last` (int64 [1], 0 or 1), mark the pieces that begin and end
 * the whole, where layers pad.
 *
 * @param rates columns of each input in time per column of the slowest; unnamed inputs have no time
 * @throws WeightsError if the graph has an unsupported layer
 */
export function toStreamingGraph(part: Subgraph, rates: Readonly<Record<string, number>>): StreamingGraph {
  return new Streaming(part, rates).made();
}

/** More columns than any piece has, to count a layer's outputs. */
const MANY = 6_000;
const END = 2 ** 40;

class Streaming {
  readonly #part: Subgraph;
  readonly #nodes: GraphNode[] = [];
  readonly #constants: Map<string, StoredConstant>;
  readonly #tracks = new Map<string, Track>();
  readonly #states: KokoroLayerState[] = [];
  /** Delayed tensors, by name and columns. */
  readonly #waiting = new Map<string, string>();

  constructor(part: Subgraph, rates: Readonly<Record<string, number>>) {
    this.#part = part;
    this.#constants = new Map(part.graph.constants);
    for (const [name, rate] of Object.entries(rates)) {
      const channels = part.inputs[name]?.shape[1];
      if (typeof channels !== "number") throw new WeightsError(`The graph takes no ${name} in columns.`);
      this.#tracks.set(name, { channels, rate, missing: 0 });
    }
  }

  made(): StreamingGraph {
    const { graph, inputs, outputs } = this.#part;
    for (const each of graph.nodes) this.#add(each);
    const [output = ""] = graph.outputs;
    const flag: ValueInfo = { type: "int64", shape: [1] };
    const ends = (prefix: string): Record<string, ValueInfo> => {
      const end = ({ name, channels }: KokoroLayerState): [string, ValueInfo] => [
        `${prefix}.${name}`,
        { type: "float32", shape: [1, channels, `${prefix}.${name}`] },
      ];
      return Object.fromEntries(this.#states.map(end));
    };
    const streamed: StoredGraph = {
      nodes: this.#nodes,
      constants: this.#constants,
      inputs: [...graph.inputs, "first", "last", ...this.#states.map(({ name }) => `past.${name}`)],
      outputs: [...graph.outputs, ...this.#states.map(({ name }) => `next.${name}`)],
    };
    return {
      part: {
        graph: streamed,
        inputs: { ...inputs, first: flag, last: flag, ...ends("past") },
        outputs: { ...outputs, ...ends("next") },
      },
      states: this.#states,
      missing: this.#tracks.get(output)?.missing ?? 0,
    };
  }

  #add(each: GraphNode): void {
    const inTime = each.inputs.filter((name) => this.#tracks.has(name));
    if (inTime.length === 0) this.#nodes.push(each);
    else if (each.operation === "Conv") this.#convolution(each);
    else if (each.operation === "ConvTranspose") this.#transposed(each);
    else if (each.operation === "Resize") this.#doubled(each);
    else if (each.operation === "Pad") this.#mirrored(each);
    else if (each.operation === "Slice") this.#sliced(each);
    else if (each.operation === "Concat") this.#joined(each);
    else if (POINTWISE.has(each.operation)) this.#pointwise(each);
    else throw new WeightsError(`${each.operation} cannot be computed piece by piece.`);
  }

  /** A kernel reaches into past and future columns: its output lags until the future ones arrive. */
  #convolution(each: GraphNode): void {
    const [x = "", weight = ""] = each.inputs;
    const track = this.#tracks.get(x)!;
    const outputs = this.#constants.get(weight)?.shape[0] ?? 0;
    const { kernel, stride, dilation, pad } = geometryOf(each);
    const reach = (kernel - 1) * dilation + 1;
    const rate = track.rate / stride;
    const there = track.rate * MANY - track.missing + pad;
    const given = Math.floor((there - reach) / stride) + 1;
    const result = { channels: outputs, rate, missing: rate * MANY - given };
    this.#tracks.set(each.outputs[0]!, result);
    if (reach === 1 && stride === 1) {
      this.#nodes.push(each);
      return;
    }
    const state = this.#state(x, track.channels, pad);
    const all = this.#after(state, x);
    this.#keepLast(state, all, there - stride * given);
    const padded = `${state.name}.padded`;
    const pads = `${state.name}.pads`;
    this.#nodes.push(
      node("Mul", ["last", this.#integers([pad])], [`${state.name}.behind`]),
      node("Concat", [this.#integers([0, 0, 0, 0, 0]), `${state.name}.behind`], [pads], { axis: 0 }),
      node("Pad", [all, pads], [padded]),
      { ...withoutAttribute(each, "pads"), inputs: [padded, ...each.inputs.slice(1)] },
    );
  }

  /** A transposed convolution: each column gives several, which overlap the neighbour's. */
  #transposed(each: GraphNode): void {
    const [x = "", weight = ""] = each.inputs;
    const track = this.#tracks.get(x)!;
    const { kernel, stride, pad, more, groups } = geometryOf(each);
    if (kernel > 2 * stride || kernel < stride)
      throw new WeightsError("A transposed convolution overlaps more than one column.");
    const state = this.#state(x, track.channels, 0);
    const all = this.#after(state, x);
    this.#keepLast(state, all, 1);
    const [output = ""] = each.outputs;
    const whole = `${state.name}.whole`;
    const from = `${state.name}.from`;
    const to = `${state.name}.to`;
    // After the last column the neighbour's part is missing; before the first, it was returned with the piece before.
    this.#nodes.push(
      { ...each, inputs: [all, ...each.inputs.slice(1)], outputs: [whole] },
      node("Sub", [this.#integers([1]), "first"], [`${state.name}.later`]),
      node("Mul", [`${state.name}.later`, this.#integers([stride - pad])], [from]),
      node("Mul", ["last", this.#integers([END])], [`${state.name}.end`]),
      node("Sub", [`${state.name}.end`, this.#integers([kernel - stride - pad + more])], [to]),
      node("Slice", [whole, from, to, this.#integers([2])], [output]),
    );
    this.#tracks.set(output, {
      channels: (this.#constants.get(weight)?.shape[1] ?? 0) * groups,
      rate: track.rate * stride,
      missing: track.missing * stride + pad,
    });
  }

  #doubled(each: GraphNode): void {
    const { channels, rate, missing } = this.#tracks.get(each.inputs[0]!)!;
    this.#nodes.push(each);
    this.#tracks.set(each.outputs[0]!, { channels, rate: 2 * rate, missing: 2 * missing });
  }

  /** Mirrors the second column before the first piece. */
  #mirrored(each: GraphNode): void {
    const [x = "", pads = ""] = each.inputs;
    const [output = ""] = each.outputs;
    const { channels, rate, missing } = this.#tracks.get(x)!;
    if (this.#numbersIn(pads).join() !== "0,0,1,0,0,0")
      throw new WeightsError("The graph pads in a way that cannot be computed piece by piece.");
    const mirror = `${output}.mirror`;
    const one = this.#integers([1]);
    this.#nodes.push(
      node("Add", ["first", one], [`${mirror}.to`]),
      node("Slice", [x, one, `${mirror}.to`, this.#integers([2])], [mirror]),
      node("Concat", [mirror, x], [output], { axis: 2 }),
    );
    this.#tracks.set(output, { channels, rate, missing: missing - 1 });
  }

  #sliced(each: GraphNode): void {
    const [x = "", from = "", to = ""] = each.inputs;
    const { channels, rate, missing } = this.#tracks.get(x)!;
    const [begin = 0] = this.#numbersIn(from);
    const [end = 0] = this.#numbersIn(to);
    this.#nodes.push(each);
    this.#tracks.set(each.outputs[0]!, { channels: Math.min(channels, end) - begin, rate, missing });
  }

  #joined(each: GraphNode): void {
    const inputs = this.#aligned(each.inputs);
    const tracks = each.inputs.map((name) => this.#tracks.get(name));
    const channels = tracks.reduce((sum, track) => sum + (track?.channels ?? 0), 0);
    this.#nodes.push({ ...each, inputs });
    this.#tracks.set(each.outputs[0]!, { ...this.#slowest(each.inputs), channels });
  }

  #pointwise(each: GraphNode): void {
    const inputs = this.#aligned(each.inputs);
    this.#nodes.push({ ...each, inputs });
    for (const output of each.outputs) this.#tracks.set(output, this.#slowest(each.inputs));
  }

  /** Returns the track with the largest lag, which the others wait for. */
  #slowest(names: readonly string[]): Track {
    const tracks = names.flatMap((name) => this.#tracks.get(name) ?? []);
    return tracks.reduce((a, b) => (b.missing > a.missing ? b : a));
  }

  #aligned(names: readonly string[]): string[] {
    const slowest = this.#slowest(names);
    const reference = names.find((name) => this.#tracks.get(name)?.missing === slowest.missing)!;
    return names.map((name) => {
      const track = this.#tracks.get(name);
      if (track === undefined || track.missing === slowest.missing) return name;
      if (track.rate !== slowest.rate)
        throw new WeightsError(`${name} and ${reference} have not the same columns.`);
      return this.#waited(name, track, slowest.missing - track.missing, reference);
    });
  }

  /** Delays columns until the reference has caught up. */
  #waited(name: string, { channels }: Track, columns: number, reference: string): string {
    const key = `${name} ${columns}`;
    const known = this.#waiting.get(key);
    if (known !== undefined) return known;
    const state = this.#state(name, channels, 0);
    const all = this.#after(state, name);
    const length = `${state.name}.length`;
    const out = `${state.name}.out`;
    const axis = this.#integers([2]);
    this.#nodes.push(
      node("Shape", [reference], [length], { start: 2, end: 3 }),
      node("Slice", [all, this.#integers([0]), length, axis], [out]),
      node("Slice", [all, length, this.#integers([END]), axis], [`next.${state.name}`]),
    );
    this.#waiting.set(key, out);
    return out;
  }

  #state(of: string, channels: number, initial: number): KokoroLayerState {
    const state = { name: `${this.#states.length}`, channels, initial };
    if (channels === 0) throw new WeightsError(`The number of channels of ${of} is unknown.`);
    this.#states.push(state);
    return state;
  }

  /** Appends a tensor to the kept columns. */
  #after({ name }: KokoroLayerState, x: string): string {
    const all = `${name}.all`;
    this.#nodes.push(node("Concat", [`past.${name}`, x], [all], { axis: 2 }));
    return all;
  }

  #keepLast({ name }: KokoroLayerState, all: string, columns: number): void {
    const bounds = [this.#integers([-columns]), this.#integers([END]), this.#integers([2])];
    this.#nodes.push(node("Slice", [all, ...bounds], [`next.${name}`]));
  }

  #numbersIn(name: string): number[] {
    const constant = this.#constants.get(name);
    if (constant?.type !== "int64") throw new WeightsError(`${name} is no constant of the graph.`);
    return Array.from(new BigInt64Array(Uint8Array.from(constant.data()).buffer), Number);
  }

  #integers(values: readonly number[]): string {
    const name = `streamed.${values.join(".")}`;
    if (!this.#constants.has(name))
      this.#constants.set(name, storedConstant("int64", [values.length], BigInt64Array.from(values, BigInt)));
    return name;
  }
}

/** Operations that map each column to one column. */
const POINTWISE: ReadonlySet<string> = new Set([
  ...["Add", "Sub", "Mul", "Div", "Pow", "Sqrt", "Exp", "Sin", "Cos", "LeakyRelu"],
]);

function geometryOf({ integers }: GraphNode) {
  const of = (name: string, fallback: number) => integers.get(name)?.[0] ?? fallback;
  return {
    kernel: of("kernel_shape", 1),
    stride: of("strides", 1),
    dilation: of("dilations", 1),
    pad: of("pads", 0),
    more: of("output_padding", 0),
    groups: of("group", 1),
  };
}
