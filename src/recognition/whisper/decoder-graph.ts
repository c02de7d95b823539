import { GraphFile } from "../../onnx/graph-file.ts";
import { HEAD_WIDTH } from "./description.ts";
import { selfAttention } from "./encoder-graph.ts";
import { layerBuilder, productWith, QUERY_SCALE, quantised } from "./graph-layers.ts";
import type { WhisperWeights } from "./whisper-weights.ts";

/**
 * Builds Whisper's decoder, which reads n tokens after those before them.
 *
 * In: `ids` int64 [1, n]; `places` int64 [n], their positions; `mask` float32 [n, before + n], 0 for visible tokens
 * and very negative for others; `weights` float32 [positions], the logarithm of how many positions each stands for;
 * `wanted` int64 [w], whose successors are predicted; per layer `past_keys.0`, `past_values.0` …, float32 [1, heads,
 * before, 64], and the encoder's `keys.0`, `values.0` …. Out: `logits` float32 [1, w, vocabulary]; `attention`
 * float32 [1, alignment heads, n, positions]; `all_keys.0`, `all_values.0` …, float32 [1, heads, before + n, 64].
 *
 * The embedding is stored once, int8 [width, vocabulary], for input and output.
 */
export async function decoderGraph(
  weights: WhisperWeights,
  alignmentHeads: readonly (readonly [layer: number, head: number])[],
): Promise<GraphFile> {
  const { sizes } = weights;
  const { width, heads, vocabulary, textPositions } = sizes;
  const graph = new GraphFile();
  const build = layerBuilder(graph, weights);
  const ids = graph.input("ids", "int64", [1, "n"]);
  const places = graph.input("places", "int64", ["n"]);
  const mask = graph.input("mask", "float32", ["n", "all"]);
  const weighting = graph.input("weights", "float32", ["positions"]);
  const wanted = graph.input("wanted", "int64", ["w"]);

  const table = quantised(
    await weights.read("decoder.embed_tokens.weight", [vocabulary, width]),
    vocabulary,
    width,
  );
  const embedding = graph.constant(table.data, [width, vocabulary]);
  const scales = graph.constant(table.scales, [vocabulary]);
  const columns = graph.add("Cast", [graph.add("Gather", [embedding, ids], { axis: 1 })], { to: 1 });
  const scaled = graph.add("Mul", [columns, graph.add("Gather", [scales, ids])]);
  const embedded = graph.add("Transpose", [scaled], { perm: [1, 2, 0] });
  const positions = await weights.read("decoder.embed_positions.weight", [textPositions, width]);
  const placed = graph.add("Gather", [graph.constant(positions, [textPositions, width]), places]);
  let x = graph.add("Add", [embedded, placed]);

  const aligned: string[] = [];
  for (let at = 0; at < sizes.decoderLayers; at++) {
    const layer = `decoder.layers.${at}`;
    const own = `${layer}.self_attn`;
    const normal = await build.normalised(x, `${layer}.self_attn_layer_norm`);
    const stacked = await build.linear(normal, selfAttention(own, width), width);
    const [queries, newKeys, newValues] = graph
      .addMany("Split", [stacked], 3, { axis: -1, num_outputs: 3 })
      .map(build.heads) as [string, string, string];
    const keys = grown(graph, "keys", at, newKeys, heads);
    const values = grown(graph, "values", at, newValues, heads);
    const looked = build.attention(queries, keys, values, mask).x;
    x = graph.add("Add", [x, await build.linear(looked, [{ stem: `${own}.out_proj`, outs: width }], width)]);

    const cross = `${layer}.encoder_attn`;
    const question = await build.linear(
      await build.normalised(x, `${layer}.encoder_attn_layer_norm`),
      [{ stem: `${cross}.q_proj`, outs: width, scale: QUERY_SCALE }],
      width,
    );
    const shape = [1, heads, "positions", HEAD_WIDTH];
    const heard = build.attention(
      build.heads(question),
      graph.input(`keys.${at}`, "float32", shape),
      graph.input(`values.${at}`, "float32", shape),
      weighting,
    );
    x = graph.add("Add", [
      x,
      await build.linear(heard.x, [{ stem: `${cross}.out_proj`, outs: width }], width),
    ]);
    const chosen = alignmentHeads.filter(([of]) => of === at).map(([, head]) => head);
    if (chosen.length > 0) {
      aligned.push(graph.add("Gather", [heard.weights, graph.integers(...chosen)], { axis: 1 }));
    }
    x = await build.feedForward(x, layer);
  }

  graph.addMany("Concat", aligned, ["attention"], { axis: 1 });
  graph.output("attention", [1, alignmentHeads.length, "n", "positions"]);
  const last = await build.normalised(graph.add("Gather", [x, wanted], { axis: 1 }), "decoder.layer_norm");
  graph.addNamed("logits", "Identity", [productWith(graph, last, embedding, scales, vocabulary)]);
  graph.output("logits", [1, "w", vocabulary]);
  return graph;
}

/** Appends keys or values to those of earlier tokens. */
function grown(graph: GraphFile, what: string, layer: number, now: string, heads: number): string {
  const past = graph.input(`past_${what}.${layer}`, "float32", [1, heads, "before", HEAD_WIDTH]);
  const all = `all_${what}.${layer}`;
  graph.addMany("Concat", [past, now], [all], { axis: 2 });
  graph.output(all, [1, heads, "all", HEAD_WIDTH]);
  return all;
}
