import { WeightsError } from "../../../onnx/byte-source.ts";
import { attribute, NODE } from "../../../onnx/graph-file.ts";
import { message } from "../../../onnx/protobuf.ts";
import {
  extractSubgraph,
  type GraphNode,
  type StoredGraph,
  type ValueInfo,
} from "../../../onnx/stored-graph.ts";

/** Channels of Kokoro's encodings, by what is made of them. */
export const CHANNELS = { prosody: 640, decoder: 512, source: 22, spectrum: 22, style: 256 } as const;

/** Columns of the source and of the spectrum in one step of 25 ms: hops of 5 samples. */
export const SPECTRA_PER_STEP = 120;

/** A part of the network, and what it takes and gives. */
export interface Part {
  readonly graph: StoredGraph;
  readonly inputs: Readonly<Record<string, ValueInfo>>;
  readonly outputs: Readonly<Record<string, ValueInfo>>;
}

/** Kokoro's network in the order in which a sentence passes it. */
export interface Parts {
  /** tokens [1, T], style → steps [1, T] (25 ms, unrounded), prosody [1, 640, T], decoder [1, 512, T] */
  readonly text: Part;
  /** columns [1, 640, steps], style → pitch (Hz) and energy, [1, 2 · steps] */
  readonly prosody: Part;
  /** pitch [1, 2 · steps] → source [1, 22, 120 · steps + 1]: its pulses and noise as spectra; whole, since its phase runs on */
  readonly source: Part;
  /** columns [1, 512, steps], pitch and energy [1, 1, 2 · steps], source, style → spectrum [1, 22, 120 · steps + 1] */
  readonly decoder: Part;
}

/** Tensors of the published graph at which it is cut. */
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
 * Cuts Kokoro's graph, as others publish it, where our plan is edited. Its names are the exporter's; what the tokens are
 * called differs from file to file, and is told by their being the first input.
 *
 * @throws WeightsError when it is another graph
 */
export function cutParts(graph: StoredGraph): Parts {
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

/** The encoding that the prosody is predicted from comes in rows, [1, T, 640]; ours are in columns. */
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
