import { WeightsError } from "../../../onnx/byte-source.ts";
import { attribute, NODE } from "../../../onnx/graph-file.ts";
import { message } from "../../../onnx/protobuf.ts";
import {
  extractSubgraph,
  type GraphNode,
  node,
  type StoredGraph,
  storedConstant,
  type ValueInfo,
} from "../../../onnx/stored-graph.ts";

/** Channels of Kokoro's encodings, by use. */
export const CHANNELS = { prosody: 640, decoder: 512, source: 22, spectrum: 22, style: 256 } as const;

/** Columns of source and spectrum per step of 25 ms: hops of 5 samples. */
export const SPECTRA_PER_STEP = 120;

export interface Subgraph {
  readonly graph: StoredGraph;
  readonly inputs: Readonly<Record<string, ValueInfo>>;
  readonly outputs: Readonly<Record<string, ValueInfo>>;
}

export interface Subgraphs {
  /** tokens [1, T], style → steps [1, T] (25 ms, unrounded), prosody [1, 640, T], decoder [1, 512, T] */
  readonly text: Subgraph;
  /** columns [1, 640, steps], style → pitch (Hz) and energy, [1, 2 · steps] */
  readonly prosody: Subgraph;
  /** pitch [1, 2 · steps] → source [1, 22, 120 · steps + 1]: pulses and noise of a whole sentence */
  readonly source: Subgraph;
  /** columns [1, 512, steps], pitch, energy [1, 1, 2 · steps], source, style → spectrum [1, 22, 120 · steps + 1] */
  readonly decoder: Subgraph;
}

/** Tensors at which the published graph is cut. */
const AT = {
  steps: "/encoder/predictor/ReduceSum_output_0",
  prosody: "/encoder/predictor/text_encoder/Concat_4_output_0",
  decoder: "/encoder/text_encoder/Transpose_2_output_0",
  prosodyColumns: "/encoder/MatMul_output_0",
  decoderColumns: "/encoder/MatMul_1_output_0",
  pitch: "/encoder/Reshape_output_0",
  energy: "/encoder/Reshape_1_output_0",
  decoderPitch: "/decoder/decoder/Unsqueeze_output_0",
  decoderEnergy: "/decoder/decoder/Unsqueeze_1_output_0",
  source: "/decoder/decoder/generator/Concat_3_output_0",
  spectrum: "/decoder/decoder/generator/istft/stft/Concat_output_0",
} as const;

/** The constant that turns spectra into samples, windows included: [22, 1, 20]. */
export const INVERSE_BASIS = "decoder.decoder.generator.stft.istft.stft.inverse_basis";

const STYLE: ValueInfo = { type: "float32", shape: [1, CHANNELS.style] };
const floats = (...shape: (number | string)[]): ValueInfo => ({ type: "float32", shape });

/**
 * Cuts Kokoro's published graph where our plan is edited. Names are the exporter's; the token input's name differs
 * from file to file, but it is the first input.
 *
 * @throws WeightsError if it is another graph
 */
export function cutSubgraphs(graph: StoredGraph): Subgraphs {
  const [tokens = ""] = graph.inputs;
  if (!graph.inputs.includes("style"))
    throw new WeightsError("The graph takes no style: it is not Kokoro's.");
  const turned = turnedProsody(
    extractSubgraph(
      graph,
      { tokens, style: "style" },
      {
        steps: AT.steps,
        rows: AT.prosody,
        decoder: AT.decoder,
      },
    ),
  );
  return {
    text: {
      graph: turned,
      inputs: { tokens: { type: "int64", shape: [1, "T"] }, style: STYLE },
      outputs: {
        steps: floats(1, "T"),
        prosody: floats(1, CHANNELS.prosody, "T"),
        decoder: floats(1, CHANNELS.decoder, "T"),
      },
    },
    prosody: {
      graph: extractSubgraph(
        graph,
        { columns: AT.prosodyColumns, style: "style" },
        { pitch: AT.pitch, energy: AT.energy },
      ),
      inputs: { columns: floats(1, CHANNELS.prosody, "S"), style: STYLE },
      outputs: { pitch: floats(1, "F"), energy: floats(1, "F") },
    },
    source: {
      graph: extractSubgraph(graph, { pitch: AT.pitch }, { source: AT.source }),
      inputs: { pitch: floats(1, "F") },
      outputs: { source: floats(1, CHANNELS.source, "H") },
    },
    decoder: {
      graph: extractSubgraph(
        graph,
        {
          columns: AT.decoderColumns,
          pitch: AT.decoderPitch,
          energy: AT.decoderEnergy,
          source: AT.source,
          style: "style",
        },
        { spectrum: AT.spectrum },
      ),
      inputs: {
        columns: floats(1, CHANNELS.decoder, "S"),
        pitch: floats(1, 1, "F"),
        energy: floats(1, 1, "F"),
        source: floats(1, CHANNELS.source, "H"),
        style: STYLE,
      },
      outputs: { spectrum: floats(1, CHANNELS.spectrum, "H") },
    },
  };
}

/** Transposes the prosody encoding: it comes in rows, [1, T, 640], and we use columns. */
function turnedProsody(graph: StoredGraph): StoredGraph {
  const turn: GraphNode = {
    operation: "Transpose",
    inputs: ["rows"],
    outputs: ["prosody"],
    integers: new Map(),
    rest: [message(NODE.attribute, attribute("perm", [0, 2, 1]))],
  };
  const outputs = graph.outputs.map((name) => (name === "rows" ? "prosody" : name));
  return { ...graph, nodes: [...graph.nodes, turn], outputs };
}

/**
 * The decoder's instance norms as inputs. Each norm takes the mean and variance of a channel over the whole sentence;
 * given from outside, they leave a decoder of convolutions alone, which can be computed piece by piece. A voice's
 * average norms do nearly as well as each sentence's own (docs/decisions/0045-kokoro.md).
 */
export interface ExternalNorms {
  /** Count of statistics: the channels of all norms, twice. */
  readonly count: number;
  /** The decoder with its own norms as an additional output, `statistics` [1, count, 1]. */
  readonly reporting: Subgraph;
  /** The decoder with an additional input `statistics` [1, count, 1] in place of its own norms. */
  readonly given: Subgraph;
}

/** @throws WeightsError if the graph's norms are laid out in another way */
export function externaliseNorms(decoder: Subgraph): ExternalNorms {
  const { graph } = decoder;
  const means = graph.nodes.filter(({ operation }) => operation === "ReduceMean");
  const sizes = means.map((mean) => channelsOf(mean, graph));
  const count = sizes.reduce((sum, size) => sum + size, 0);
  const names = means.map(({ outputs }) => outputs[0]!);
  const statistics = { type: "float32", shape: [1, count, 1] } as const;
  const join = node("Concat", names, ["statistics"], { axis: 1 });
  const reporting: Subgraph = {
    ...decoder,
    graph: { ...graph, nodes: [...graph.nodes, join], outputs: [...graph.outputs, "statistics"] },
    outputs: { ...decoder.outputs, statistics },
  };
  const split = node("Split", ["statistics", "statistics.sizes"], names, { axis: 1 });
  const constants = new Map(graph.constants).set(
    "statistics.sizes",
    storedConstant("int64", [sizes.length], BigInt64Array.from(sizes, BigInt)),
  );
  const without = {
    ...graph,
    constants,
    nodes: [split, ...graph.nodes.filter(({ operation }) => operation !== "ReduceMean")],
  };
  const inputs = { ...decoder.inputs, statistics };
  const same = (ends: object) => Object.fromEntries(Object.keys(ends).map((name) => [name, name]));
  return {
    count,
    reporting,
    given: {
      graph: extractSubgraph(without, same(inputs), same(decoder.outputs)),
      inputs,
      outputs: decoder.outputs,
    },
  };
}

/** Returns the channels of a mean's norm: half of the outputs that turn the style into scales and shifts. */
function channelsOf({ outputs }: GraphNode, { constants }: StoredGraph): number {
  const prefix = /^\/decoder\/decoder\/(.+)\/ReduceMean(?:_\d+)?_output_0$/.exec(outputs[0] ?? "")?.[1];
  const bias = constants.get(`decoder.decoder.${prefix?.replaceAll("/", ".")}.fc.bias`);
  const [size] = bias?.shape ?? [];
  if (size === undefined || size % 2 !== 0)
    throw new WeightsError(`The graph has no norm for ${outputs[0]}.`);
  return size / 2;
}
