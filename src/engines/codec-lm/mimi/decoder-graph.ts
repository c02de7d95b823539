import { summedVectors } from "../code-vectors.ts";
import { StreamedGraph } from "../streamed-graph.ts";
import type { WeightsInGraph } from "../weights-in-graph.ts";
import { codebook, mimiTransformer, residual } from "./layers.ts";
import { HALVING, type MimiSizes } from "./sizes.ts";

/**
 * Writes Mimi's decoder.
 *
 * In: `codes` int64 [codebooks, frames], of as many of the first codebooks as there are, and states. Out: `audio`
 * float32 [1, 1, samples]; states.
 *
 * @param stem in front of the names: `codec_model.`, or nothing
 */
export function mimiDecoder(weights: WeightsInGraph, stem: string, sizes: MimiSizes): StreamedGraph {
  const build = new StreamedGraph(weights);
  const { graph } = build;
  const codes = graph.input("codes", "int64", ["codebooks", "frames"]);
  let x = latents(build, `${stem}quantizer`, sizes, codes);
  x = build.transposed(x, `${stem}upsample.conv`, {
    ins: sizes.width,
    outs: sizes.width,
    kernel: 2 * HALVING,
    stride: HALVING,
    groups: sizes.width,
    hasBias: false,
  });
  x = mimiTransformer(build, x, `${stem}decoder_transformer`, sizes);
  let width = sizes.filters * 2 ** sizes.ratios.length;
  x = build.convolution(x, `${stem}decoder.layers.0.conv`, {
    ins: sizes.width,
    outs: width,
    kernel: sizes.kernel,
  });
  let layer = 2;
  for (const stride of sizes.ratios) {
    x = build.transposed(graph.add("Elu", [x]), `${stem}decoder.layers.${layer}.conv`, {
      ins: width,
      outs: width / 2,
      kernel: 2 * stride,
      stride,
    });
    width /= 2;
    x = residual(build, x, `${stem}decoder.layers.${layer + 1}`, width, sizes);
    layer += 3;
  }
  x = build.convolution(graph.add("Elu", [x]), `${stem}decoder.layers.${layer}.conv`, {
    ins: width,
    outs: 1,
    kernel: sizes.lastKernel,
  });
  graph.addNamed("audio", "Identity", [x]);
  graph.output("audio", [1, 1, "samples"]);
  return build;
}

/** The sum of the codes' vectors in each part, projected: [1, width, frames]. */
function latents(build: StreamedGraph, stem: string, sizes: MimiSizes, codes: string): string {
  const { graph, weights } = build;
  const { width, codeWidth, semanticCodebooks, codebooks } = sizes;
  const part = (name: string, first: number, end: number): string => {
    const books = Array.from({ length: end - first }, (_, at) => codebook(weights, stem, first + at, sizes));
    const sum = summedVectors(build, codes, books, first, sizes.codes);
    const projection = `${stem}.${name}_residual_vector_quantizer.output_proj.weight`;
    const matrix = weights.constant(projection, [width, codeWidth, 1], [width, codeWidth]);
    return graph.add("com.microsoft.FusedMatMul", [sum, matrix], { transB: 1 });
  };
  const sum = graph.add("Add", [
    part("semantic", 0, semanticCodebooks),
    part("acoustic", semanticCodebooks, codebooks),
  ]);
  return graph.add("Transpose", [graph.add("Unsqueeze", [sum, graph.integers(0)])], { perm: [0, 2, 1] });
}
