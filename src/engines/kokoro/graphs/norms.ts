import { WeightsError } from "../../../onnx/byte-source.ts";
import {
  extractSubgraph,
  type GraphNode,
  node,
  type StoredGraph,
  storedConstant,
} from "../../../onnx/stored-graph.ts";
import type { Part } from "./cuts.ts";

/**
 * The decoder's instance norms: each takes the mean and the variance of every channel over the whole sentence. Given from
 * outside, they leave a decoder that is convolutions and nothing else, which can be computed piece by piece; and a voice's
 * own, averaged over some sentences, do nearly as well as each sentence's (see the decision).
 */
export interface Norms {
  /** How many numbers there are: the channels of all norms, twice. */
  readonly count: number;
  /** The decoder with one more output, `statistics` [1, count, 1]: its own. */
  readonly reporting: Part;
  /** The decoder with one more input, `statistics` [1, count, 1], in place of its own. */
  readonly given: Part;
}

/** @throws WeightsError when the graph's norms are laid out in another way */
export function normsOf(decoder: Part): Norms {
  const { graph } = decoder;
  const means = graph.nodes.filter(({ operation }) => operation === "ReduceMean");
  const sizes = means.map((mean) => channelsOf(mean, graph));
  const count = sizes.reduce((sum, size) => sum + size, 0);
  const names = means.map(({ outputs }) => outputs[0]!);
  const statistics = { type: "float32", shape: [1, count, 1] } as const;
  const join = node("Concat", names, ["statistics"], { axis: 1 });
  const reporting: Part = {
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

/** Channels of the norm that a mean belongs to: half of what makes its scales and shifts of the style. */
function channelsOf({ outputs }: GraphNode, { constants }: StoredGraph): number {
  const prefix = /^\/decoder\/decoder\/(.+)\/ReduceMean(?:_\d+)?_output_0$/.exec(outputs[0] ?? "")?.[1];
  const bias = constants.get(`decoder.decoder.${prefix?.replaceAll("/", ".")}.fc.bias`);
  const [size] = bias?.shape ?? [];
  if (size === undefined || size % 2 !== 0)
    throw new WeightsError(`The graph has no norm for ${outputs[0]}.`);
  return size / 2;
}
