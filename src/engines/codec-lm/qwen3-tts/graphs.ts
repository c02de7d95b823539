import { GraphFile } from "../../../tensors/graph-file.ts";
import type { Weights } from "../../../tensors/weights-folder.ts";
import { chosenHead } from "../chosen-head.ts";
import { newestRow, transformer } from "../transformer.ts";
import { WeightsInGraph } from "../weights-in-graph.ts";
import type { Qwen3TtsConfig } from "./config.ts";
import { isProjected, NAMES } from "./manifest.ts";

/** What brings embeddings of text to the talker. In: `x` float32 [n, text width]. Out: `rows` float32 [n, width]. */
export function textGraph(weights: Weights, { talker, textWidth }: Qwen3TtsConfig): GraphFile {
  const graph = new GraphFile();
  const into = new WeightsInGraph(graph, weights);
  const x = graph.input("x", "float32", ["n", textWidth]);
  const wide = into.linear(x, NAMES.textFirst, textWidth, textWidth, true);
  const active = graph.add("Mul", [wide, graph.add("Sigmoid", [wide])]);
  graph.addNamed("rows", "Identity", [into.linear(active, NAMES.textSecond, textWidth, talker.width, true)]);
  graph.output("rows", ["n", talker.width]);
  return graph;
}

/**
 * The code predictor. In: `x` float32 [b, n, width of the talker], `head` int64, and what `transformer` takes. Out:
 * `logits` float32 [b, codes] of codebook `head` + 1, by the newest row; keys and values.
 */
export function predictorGraph(weights: Weights, config: Qwen3TtsConfig): GraphFile {
  const { talker, predictor, codes, codebooks } = config;
  const graph = new GraphFile();
  const into = new WeightsInGraph(graph, weights);
  const x = graph.input("x", "float32", ["b", "n", talker.width]);
  const head = graph.input("head", "int64", []);
  const projected = isProjected(config)
    ? into.linear(x, NAMES.projection, talker.width, predictor.width, true)
    : x;
  const newest = newestRow(into, transformer(into, NAMES.predictor, predictor, projected));
  const write = (branch: GraphFile, at: number): string =>
    new WeightsInGraph(branch, weights).linear(newest, NAMES.predictorHead(at), predictor.width, codes);
  graph.addNamed("logits", "Identity", [chosenHead(graph, head, codebooks - 1, write, ["b", codes])]);
  graph.output("logits", ["b", codes]);
  return graph;
}
