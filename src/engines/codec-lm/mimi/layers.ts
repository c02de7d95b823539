import type { GraphFile } from "../../../onnx/graph-file.ts";
import { codeVectors } from "../code-vectors.ts";
import type { StreamedGraph } from "../networks/streamed-graph.ts";
import { streamedTransformer } from "../networks/streamed-transformer.ts";
import type { WeightsInGraph } from "../networks/weights-in-graph.ts";
import { type MimiSizes, placeOf } from "./sizes.ts";

/**
 * x above 0, e^x - 1 below. onnxruntime's own rounds differently where its threads share the work out, so that a result
 * would depend on what else is computed with it.
 */
export function elu(graph: GraphFile, x: string): string {
  const above = graph.add("Relu", [x]);
  const power = graph.add("Exp", [graph.add("Sub", [x, above])]);
  return graph.add("Add", [above, graph.add("Sub", [power, graph.number(1)])]);
}

/** x + conv1(ELU(conv3(ELU(x)))), [streams, time, width]. */
export function residual(build: StreamedGraph, x: string, stem: string, width: number, sizes: MimiSizes) {
  const { graph } = build;
  const narrow = width / sizes.compress;
  const first = build.convolution(elu(graph, x), `${stem}.block.1.conv`, {
    ins: width,
    outs: narrow,
    kernel: sizes.residualKernel,
  });
  const second = build.convolution(elu(graph, first), `${stem}.block.3.conv`, {
    ins: narrow,
    outs: width,
    kernel: 1,
  });
  return graph.add("Add", [x, second]);
}

/**
 * The transformer of the encoder or the decoder: layer norms, layer scales, a window.
 *
 * @param x [streams, time, width]
 */
export function mimiTransformer(build: StreamedGraph, x: string, stem: string, sizes: MimiSizes): string {
  const { graph, weights } = build;
  const { width, innerWidth, epsilon } = sizes;
  return streamedTransformer(
    build,
    x,
    stem,
    sizes,
    (rows, name) => weights.layerNorm(rows, name, width, epsilon),
    (rows, mlp) => {
      const wide = graph.add("Gelu", [weights.linear(rows, `${mlp}.fc1`, width, innerWidth)]);
      return weights.linear(wide, `${mlp}.fc2`, innerWidth, width);
    },
  );
}

/** The vectors of a codebook, [codes, code width]. */
export function codebook(weights: WeightsInGraph, stem: string, at: number, sizes: MimiSizes): string {
  const { part, at: layer } = placeOf(sizes, at);
  const name = `${stem}.${part}_residual_vector_quantizer.layers.${layer}.codebook`;
  return codeVectors(weights, `${name}.embed_sum`, `${name}.cluster_usage`, sizes.codes, sizes.codeWidth);
}
