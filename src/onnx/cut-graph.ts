import { WeightsError } from "./byte-source.ts";
import type { Node } from "./graph-node.ts";
import type { StoredConstant, StoredGraph } from "./stored-graph.ts";

/** Tensors by the names that they get. */
export type Renamed = Readonly<Record<string, string>>;

/**
 * The part of a graph between some of its tensors.
 *
 * @param inputs what it takes, and `outputs` what it gives: new name → name in the graph
 * @throws WeightsError when the graph lacks one of them, or the outputs need more than the inputs
 */
export function cutGraph(graph: StoredGraph, inputs: Renamed, outputs: Renamed): StoredGraph {
  const makers = new Map(graph.nodes.flatMap((node) => node.outputs.map((name) => [name, node] as const)));
  const given = new Set(Object.values(inputs));
  const kept = new Set<Node>();
  const constants = new Map<string, StoredConstant>();
  const open = Object.values(outputs);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === "" || given.has(name) || constants.has(name)) continue;
    const constant = graph.constants.get(name);
    const maker = makers.get(name);
    if (constant !== undefined) constants.set(name, constant);
    else if (maker === undefined) throw new WeightsError(`The graph has nothing that gives ${name}.`);
    else if (!kept.has(maker)) {
      kept.add(maker);
      open.push(...maker.inputs);
    }
  }
  const names = new Map(
    [...Object.entries(inputs), ...Object.entries(outputs)].map(([name, old]) => [old, name] as const),
  );
  const renamed = (name: string) => names.get(name) ?? name;
  return {
    nodes: graph.nodes
      .filter((node) => kept.has(node))
      .map((node) => ({ ...node, inputs: node.inputs.map(renamed), outputs: node.outputs.map(renamed) })),
    constants,
    inputs: Object.keys(inputs),
    outputs: Object.keys(outputs),
  };
}
