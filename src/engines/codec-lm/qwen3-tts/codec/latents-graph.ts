import { codeVectors, summedVectors } from "../../code-vectors.ts";
import { StreamedAttention } from "../../streamed-attention.ts";
import { StreamedGraph } from "../../streamed-graph.ts";
import type { WeightsInGraph } from "../../weights-in-graph.ts";
import type { DecoderSizes } from "./sizes.ts";

/**
 * Writes the decoder's first half, which looks far back.
 *
 * In: `places` of the codes' vectors, int64 [codebooks, streams, frames] (`placesOf`), and states. Out: `latents` float32
 * [streams, frames, latent width]; states.
 */
export function latentsGraph(weights: WeightsInGraph, sizes: DecoderSizes): StreamedGraph {
  const build = new StreamedGraph(weights);
  const { graph } = build;
  const places = graph.input("places", "int64", [sizes.codebooks, "streams", "frames"]);
  const mixed = build.convolution(quantised(build, places, sizes), "decoder.pre_conv.conv", {
    ins: sizes.quantisedWidth,
    outs: sizes.latentWidth,
    kernel: 3,
  });
  graph.addNamed("latents", "Identity", [transformed(build, mixed, sizes)]);
  graph.output("latents", ["streams", "frames", sizes.latentWidth]);
  return build;
}

/** The sums of the codes' vectors, that of the first codebook and that of the others, projected: [streams, frames, width]. */
function quantised(build: StreamedGraph, places: string, sizes: DecoderSizes): string {
  const { graph, weights } = build;
  const { codebooks, codeWidth, quantisedWidth } = sizes;
  const part = (name: string, first: number, end: number): string => {
    const books = Array.from({ length: end - first }, (_, at) => {
      const book = decoderBook(first + at);
      return codeVectors(weights, `${book}.embedding_sum`, `${book}.cluster_usage`, sizes.codes, codeWidth);
    });
    const projection = `decoder.quantizer.rvq_${name}.output_proj.weight`;
    const matrix = weights.constant(projection, [quantisedWidth, codeWidth, 1], [quantisedWidth, codeWidth]);
    const sum = summedVectors(build, places, books, first, codeWidth);
    return graph.add("com.microsoft.FusedMatMul", [sum, matrix], { transB: 1 });
  };
  return graph.add("Add", [part("first", 0, 1), part("rest", 1, codebooks)]);
}

/** [streams, n, latent width] → the same: root-mean-square norms, a window, SwiGLU, layer scales. */
function transformed(build: StreamedGraph, x: string, sizes: DecoderSizes): string {
  const { graph, weights } = build;
  const { latentWidth, width, innerWidth, layers, epsilon } = sizes;
  const stem = "decoder.pre_transformer";
  const normalised = (rows: string, name: string): string =>
    graph.add("SimplifiedLayerNormalization", [rows, weights.constant(`${name}.weight`, [width])], {
      axis: -1,
      epsilon: { float: epsilon },
    });
  const scaled = (rows: string, name: string): string =>
    graph.add("Mul", [rows, weights.constant(`${name}.scale`, [width])]);
  const attention = new StreamedAttention(build, sizes);
  let rows = weights.linear(x, `${stem}.input_proj`, latentWidth, width, true);
  for (let at = 0; at < layers; at++) {
    const layer = `${stem}.layers.${at}`;
    const attended = attention.attend(normalised(rows, `${layer}.input_layernorm`), `${layer}.self_attn`);
    rows = graph.add("Add", [rows, scaled(attended, `${layer}.self_attn_layer_scale`)]);
    const inner = normalised(rows, `${layer}.post_attention_layernorm`);
    const gate = weights.linear(inner, `${layer}.mlp.gate_proj`, width, innerWidth);
    const up = weights.linear(inner, `${layer}.mlp.up_proj`, width, innerWidth);
    const gated = graph.add("Mul", [graph.add("Mul", [gate, graph.add("Sigmoid", [gate])]), up]);
    const narrow = weights.linear(gated, `${layer}.mlp.down_proj`, innerWidth, width);
    rows = graph.add("Add", [rows, scaled(narrow, `${layer}.mlp_layer_scale`)]);
  }
  return weights.linear(normalised(rows, `${stem}.norm`), `${stem}.output_proj`, width, latentWidth, true);
}

/** Which residual vector quantiser of the decoder a codebook is in, and its place there. */
function decoderBook(codebook: number): string {
  const [part, at] = codebook === 0 ? ["first", 0] : ["rest", codebook - 1];
  return `decoder.quantizer.rvq_${part}.vq.layers.${at}._codebook`;
}
