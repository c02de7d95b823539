import { WeightsError } from "../../onnx/byte-source.ts";
import {
  type GraphNode,
  node,
  type StoredGraph,
  storedConstant,
  type ValueInfo,
  withoutAttribute,
} from "../../onnx/stored-graph.ts";

/** Columns that a convolution of width 7 keeps from the chunk before. */
export const PAST_COLUMNS = 6;

/** Zero columns beyond either end of a sentence: half a convolution's width. */
export const EDGE_COLUMNS = 3;

/** Residual blocks in the decoder, each with one depthwise convolution. */
export const BLOCKS = 8;

export const CHANNELS = 256;

export const PIECE_INPUTS: Readonly<Record<string, ValueInfo>> = {
  after: { type: "float32", shape: [1, CHANNELS, "after"] },
  ...blockEnds("past", "past"),
};
export const PIECE_OUTPUTS: Readonly<Record<string, ValueInfo>> = blockEnds("next", PAST_COLUMNS);

/**
 * Turns the decoder of whole sentences into one that takes a sentence in pieces. Instead of padding with zeros, each
 * convolution joins its piece to the last six columns of the piece before, which are returned with the result and
 * passed to the next run. So every column is computed once, whatever the chunks, and each of the nine convolutions
 * delays the result by three columns. (The usual ring-buffer form of a streaming convolution; in residual blocks the
 * bypass is delayed too: Rybakov et al., "Streaming keyword spotting on mobile devices", 2020.)
 *
 * New inputs: `past0`…`past7` [1, 256, 6], or 3 zero columns at the start of a sentence; `after` [1, 256, n], with n
 * = 3 zero columns in a sentence's last piece and none before. New outputs: `next0`…`next7` [1, 256, 6]. The first
 * convolution is no longer padded: the caller overlaps its pieces by six columns.
 *
 * @throws WeightsError if the graph is not the decoder that this was written for
 */
export function streamingDecoder({ nodes, constants, ...ends }: StoredGraph): StoredGraph {
  const delayed = new Map<string, string>();
  let block = 0;

  const changed = nodes.flatMap((each): GraphNode[] => {
    if (each.operation === "Conv") {
      const [source, ...weights] = each.inputs;
      if (source === undefined) throw unexpected();
      if (each.integers.get("group")?.[0] === 1) return [withoutAttribute(each, "pads")];
      const k = block++;
      const joinSamples = `joined${k}`;
      delayed.set(source, `bypass${k}`);
      return [
        node("Concat", [`past${k}`, source, "after"], [joinSamples], { axis: 2 }),
        node("Slice", [joinSamples, "last six", "end", "time axis"], [`next${k}`]),
        node("Slice", [joinSamples, "first three", "last three", "time axis"], [`bypass${k}`]),
        withoutAttribute({ ...each, inputs: [joinSamples, ...weights] }, "pads"),
      ];
    }
    const bypass = each.operation === "Add" ? delayed.get(each.inputs[0] ?? "") : undefined;
    return bypass === undefined ? [each] : [{ ...each, inputs: [bypass, ...each.inputs.slice(1)] }];
  });

  if (block !== BLOCKS) throw unexpected();
  const whole = (value: number) => storedConstant("int64", [1], BigInt64Array.of(BigInt(value)));
  return {
    nodes: changed,
    constants: new Map([
      ...constants,
      ["last six", whole(-PAST_COLUMNS)],
      ["first three", whole(EDGE_COLUMNS)],
      ["last three", whole(-EDGE_COLUMNS)],
      ["end", whole(2 ** 31 - 1)],
      ["time axis", whole(2)],
    ]),
    inputs: [...ends.inputs, ...Object.keys(PIECE_INPUTS)],
    outputs: [...ends.outputs, ...Object.keys(PIECE_OUTPUTS)],
  };
}

function blockEnds(name: string, columns: number | string): Record<string, ValueInfo> {
  const end: ValueInfo = { type: "float32", shape: [1, CHANNELS, columns] };
  return Object.fromEntries(Array.from({ length: BLOCKS }, (_, block) => [`${name}${block}`, end]));
}

function unexpected(): WeightsError {
  return new WeightsError("The voice's decoder has another form than this version of Antiphon knows.");
}
