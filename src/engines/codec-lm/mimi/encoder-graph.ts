import { StreamedGraph } from "../networks/streamed-graph.ts";
import type { WeightsInGraph } from "../networks/weights-in-graph.ts";
import { codebook, elu, mimiTransformer, residual } from "./layers.ts";
import { HALVING, type MimiSizes } from "./sizes.ts";

/**
 * Writes Mimi's encoder.
 *
 * In: `audio` float32 [1, samples, 1], and states. Out: `codes` int64 [codebooks, frames]; `latents` float32
 * [1, frames, width]; states. A piece whose length is no multiple of a frame has to be the last.
 *
 * @param stem in front of the names: `codec_model.`, or nothing
 * @param codebooks how many codes a frame gets: the first of all
 */
export function mimiEncoder(
  weights: WeightsInGraph,
  stem: string,
  sizes: MimiSizes,
  codebooks: number,
): StreamedGraph {
  const build = new StreamedGraph(weights);
  const { graph } = build;
  const audio = graph.input("audio", "float32", [1, "samples", 1]);
  let width = sizes.filters;
  let x = build.convolution(audio, `${stem}encoder.layers.0.conv`, {
    ins: 1,
    outs: width,
    kernel: sizes.kernel,
  });
  let layer = 1;
  for (const stride of sizes.ratios.toReversed()) {
    x = elu(graph, residual(build, x, `${stem}encoder.layers.${layer}`, width, sizes));
    x = build.convolution(x, `${stem}encoder.layers.${layer + 2}.conv`, {
      ins: width,
      outs: 2 * width,
      kernel: 2 * stride,
      stride,
    });
    width *= 2;
    layer += 3;
  }
  x = build.convolution(elu(graph, x), `${stem}encoder.layers.${layer + 1}.conv`, {
    ins: width,
    outs: sizes.width,
    kernel: sizes.lastKernel,
  });
  x = mimiTransformer(build, x, `${stem}encoder_transformer`, sizes);
  x = build.convolution(x, `${stem}downsample.conv`, {
    ins: sizes.width,
    outs: sizes.width,
    kernel: 2 * HALVING,
    stride: HALVING,
    hasBias: false,
    edges: "repeated",
  });
  graph.addNamed("latents", "Identity", [x]);
  graph.output("latents", [1, "frames", sizes.width]);
  const codes = quantised(weights, `${stem}quantizer`, sizes, codebooks, x);
  graph.addMany("Concat", codes, ["codes"], { axis: 0 });
  graph.output("codes", [codebooks, "frames"], "int64");
  return build;
}

/** Each codebook's nearest vector to what those before it left over, [1, frames] each; of two as near the first. */
function quantised(
  weights: WeightsInGraph,
  stem: string,
  sizes: MimiSizes,
  codebooks: number,
  latents: string,
): string[] {
  const { graph } = weights;
  const { width, codeWidth, semanticCodebooks } = sizes;
  const rows = graph.add("Squeeze", [latents, graph.integers(0)]);
  const projected = (part: string): string => {
    const name = `${stem}.${part}_residual_vector_quantizer.input_proj.weight`;
    const matrix = weights.constant(name, [codeWidth, width, 1], [codeWidth, width]);
    return graph.add("com.microsoft.FusedMatMul", [rows, matrix], { transB: 1 });
  };
  const codes: string[] = [];
  let left = "";
  for (let at = 0; at < codebooks; at++) {
    // Both parts begin with the latents themselves.
    if (at === 0) left = projected("semantic");
    if (at === semanticCodebooks) left = projected("acoustic");
    const vectors = codebook(weights, stem, at, sizes);
    const squares = graph.add("ReduceSum", [graph.add("Mul", [vectors, vectors]), graph.integers(1)], {
      keepdims: 0,
    });
    // |left - vector|² = |left|² - 2 (left · vector - |vector|² / 2)
    const halves = graph.add("Mul", [squares, graph.number(0.5)]);
    const products = graph.add("com.microsoft.FusedMatMul", [left, vectors], { transB: 1 });
    const nearness = graph.add("Sub", [products, halves]);
    const chosen = graph.add("ArgMax", [nearness], { axis: 1, keepdims: 0 });
    codes.push(graph.add("Unsqueeze", [chosen, graph.integers(0)]));
    left = graph.add("Sub", [left, graph.add("Gather", [vectors, chosen])]);
  }
  return codes;
}
