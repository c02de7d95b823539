import { GraphFile } from "../../../tensors/graph-file.ts";
import type { Weights } from "../../../tensors/weights-folder.ts";
import { chosenHead } from "../chosen-head.ts";
import { newestRow, transformer } from "../transformer.ts";
import { WeightsInGraph } from "../weights-in-graph.ts";
import type { CsmConfig } from "./config.ts";
import { NAMES } from "./manifest.ts";

/**
 * The depth decoder. In: `x` float32 [b, n, width of the backbone], `head` int64, and what `transformer` takes. Out:
 * `logits` float32 [b, codes] of codebook `head` + 1, by the newest row; keys and values.
 */
export function depthGraph(weights: Weights, { backbone, depth, codes, codebooks }: CsmConfig): GraphFile {
  const graph = new GraphFile();
  const into = new WeightsInGraph(graph, weights);
  const x = graph.input("x", "float32", ["b", "n", backbone.width]);
  const head = graph.input("head", "int64", []);
  const projected = into.linear(x, NAMES.projector, backbone.width, depth.width);
  const newest = newestRow(into, transformer(into, NAMES.depth, depth, projected));
  const heads = codebooks - 1;
  const write = (branch: GraphFile, at: number): string => {
    const inBranch = new WeightsInGraph(branch, weights);
    return inBranch.productWithPart(newest, NAMES.depthHeads, [heads, depth.width, codes], at);
  };
  graph.addNamed("logits", "Identity", [chosenHead(graph, head, heads, write, ["b", codes])]);
  graph.output("logits", ["b", codes]);
  return graph;
}
