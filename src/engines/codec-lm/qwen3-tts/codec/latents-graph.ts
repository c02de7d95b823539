import { codeVectors, projectedSum } from "../../code-vectors.ts";
import { StreamedGraph } from "../../networks/streamed-graph.ts";
import { streamedTransformer } from "../../networks/streamed-transformer.ts";
import type { WeightsInGraph } from "../../networks/weights-in-graph.ts";
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
    return projectedSum(build, places, books, first, {
      name: projection,
      ins: codeWidth,
      outs: quantisedWidth,
    });
  };
  return graph.add("Add", [part("first", 0, 1), part("rest", 1, codebooks)]);
}

/** [streams, n, latent width] → the same: root-mean-square norms, a window, SwiGLU, layer scales. */
function transformed(build: StreamedGraph, x: string, sizes: DecoderSizes): string {
  const { weights } = build;
  const { latentWidth, width, innerWidth, epsilon } = sizes;
  const stem = "decoder.pre_transformer";
  const normalised = (rows: string, name: string): string => weights.rmsNorm(rows, name, width, epsilon);
  const given = weights.linear(x, `${stem}.input_proj`, latentWidth, width, true);
  const rows = streamedTransformer(build, given, stem, sizes, normalised, (inner, mlp) =>
    weights.swiGlu(inner, mlp, width, innerWidth),
  );
  return weights.linear(normalised(rows, `${stem}.norm`), `${stem}.output_proj`, width, latentWidth, true);
}

/** Which residual vector quantiser of the decoder a codebook is in, and its place there. */
function decoderBook(codebook: number): string {
  const [part, at] = codebook === 0 ? ["first", 0] : ["rest", codebook - 1];
  return `decoder.quantizer.rvq_${part}.vq.layers.${at}._codebook`;
}
