import { projectedSum } from "../code-vectors.ts";
import { StreamedGraph } from "../networks/streamed-graph.ts";
import type { WeightsInGraph } from "../networks/weights-in-graph.ts";
import { codebook, elu, mimiTransformer, residual } from "./layers.ts";
import { HALVING, type MimiSizes } from "./sizes.ts";

/**
 * Writes Mimi's decoder.
 *
 * In: `places` of the codes' vectors, int64 [codebooks, streams, frames] (`placesOf`), and states. Out: `audio` float32
 * [streams, samples, 1]; states.
 *
 * @param stem in front of the names: `codec_model.`, or nothing
 */
export function mimiDecoder(weights: WeightsInGraph, stem: string, sizes: MimiSizes): StreamedGraph {
  const build = new StreamedGraph(weights);
  const { graph } = build;
  const places = graph.input("places", "int64", [sizes.codebooks, "streams", "frames"]);
  let x = latents(build, `${stem}quantizer`, sizes, places);
  x = build.transposedByChannel(x, `${stem}upsample.conv`, sizes.width, 2 * HALVING, HALVING);
  x = mimiTransformer(build, x, `${stem}decoder_transformer`, sizes);
  let width = sizes.filters * 2 ** sizes.ratios.length;
  x = build.convolution(x, `${stem}decoder.layers.0.conv`, {
    ins: sizes.width,
    outs: width,
    kernel: sizes.kernel,
  });
  let layer = 2;
  for (const stride of sizes.ratios) {
    x = build.transposed(elu(graph, x), `${stem}decoder.layers.${layer}.conv`, {
      ins: width,
      outs: width / 2,
      kernel: 2 * stride,
      stride,
    });
    width /= 2;
    x = residual(build, x, `${stem}decoder.layers.${layer + 1}`, width, sizes);
    layer += 3;
  }
  x = build.convolution(elu(graph, x), `${stem}decoder.layers.${layer}.conv`, {
    ins: width,
    outs: 1,
    kernel: sizes.lastKernel,
  });
  graph.addNamed("audio", "Identity", [x]);
  graph.output("audio", ["streams", "samples", 1]);
  return build;
}

/** The sum of the codes' vectors in each part, projected: [streams, frames, width]. */
function latents(build: StreamedGraph, stem: string, sizes: MimiSizes, places: string): string {
  const { graph, weights } = build;
  const { width, codeWidth, semanticCodebooks, codebooks } = sizes;
  const part = (name: string, first: number, end: number): string => {
    const books = Array.from({ length: end - first }, (_, at) => codebook(weights, stem, first + at, sizes));
    const projection = `${stem}.${name}_residual_vector_quantizer.output_proj.weight`;
    return projectedSum(build, places, books, first, { name: projection, ins: codeWidth, outs: width });
  };
  return graph.add("Add", [
    part("semantic", 0, semanticCodebooks),
    part("acoustic", semanticCodebooks, codebooks),
  ]);
}
