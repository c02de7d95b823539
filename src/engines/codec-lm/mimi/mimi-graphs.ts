import type { GraphFile } from "../../../onnx/graph-file.ts";
import { int64, type Tensor } from "../../../onnx/tensor.ts";
import { StreamedGraph } from "../networks/streamed-graph.ts";
import { streamedTransformer } from "../networks/streamed-transformer.ts";
import type { WeightsInGraph } from "../networks/weights-in-graph.ts";
import type { CodeFrame } from "./frame-decoder.ts";
import { LATENT_STRIDE, type MimiSizes, quantiserOf } from "./sizes.ts";

/**
 * Writes Mimi's encoder.
 *
 * In: `audio` float32 [1, samples, 1], and states. Out: `codes` int64 [codebooks, frames]; `latents` float32 [1,
 * frames, width]; states. Only the last chunk may have a length that is not a multiple of a frame.
 *
 * @param stem prefix of the names: `codec_model.`, or nothing
 * @param codebooks number of codes per frame, of the first codebooks
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
    x = elu(graph, residualUnit(build, x, `${stem}encoder.layers.${layer}`, width, sizes));
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
    kernel: 2 * LATENT_STRIDE,
    stride: LATENT_STRIDE,
    hasBias: false,
    edges: "repeated",
  });
  graph.addNamed("latents", "Identity", [x]);
  graph.output("latents", [1, "frames", sizes.width]);
  const codes = writeQuantiser(weights, `${stem}quantizer`, sizes, codebooks, x);
  graph.addMany("Concat", codes, ["codes"], { axis: 0 });
  graph.output("codes", [codebooks, "frames"], "int64");
  return build;
}

/**
 * Writes residual vector quantisation: the nearest vector of each codebook to the remaining error, [1, frames] each;
 * the first of equal ones.
 */
function writeQuantiser(
  weights: WeightsInGraph,
  stem: string,
  sizes: MimiSizes,
  codebooks: number,
  encoded: string,
): string[] {
  const { graph } = weights;
  const { width, codeWidth, semanticCodebooks } = sizes;
  const rows = graph.add("Squeeze", [encoded, graph.integers(0)]);
  const projected = (part: string): string => {
    const name = `${stem}.${part}_residual_vector_quantizer.input_proj.weight`;
    const matrix = weights.constant(name, [codeWidth, width, 1], [codeWidth, width]);
    return graph.add("com.microsoft.FusedMatMul", [rows, matrix], { transB: 1 });
  };
  const codes: string[] = [];
  let left = "";
  for (let at = 0; at < codebooks; at++) {
    // Both parts start from the latents.
    if (at === 0) left = projected("semantic");
    if (at === semanticCodebooks) left = projected("acoustic");
    const vectors = codebookVectors(weights, stem, at, sizes);
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

/**
 * Writes Mimi's decoder.
 *
 * In: `places`, the indices of the codes' vectors, int64 [codebooks, streams, frames] (`codeVectorIndices`), and
 * states. Out: `audio` float32 [streams, samples, 1]; states.
 *
 * @param stem prefix of the names: `codec_model.`, or nothing
 */
export function mimiDecoder(weights: WeightsInGraph, stem: string, sizes: MimiSizes): StreamedGraph {
  const build = new StreamedGraph(weights);
  const { graph } = build;
  const places = graph.input("places", "int64", [sizes.codebooks, "streams", "frames"]);
  let x = sumCodeVectors(build, `${stem}quantizer`, sizes, places);
  x = build.transposedByChannel(x, `${stem}upsample.conv`, sizes.width, 2 * LATENT_STRIDE, LATENT_STRIDE);
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
    x = residualUnit(build, x, `${stem}decoder.layers.${layer + 1}`, width, sizes);
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

/** Sums the projected vectors of the codes in each part: [streams, frames, width]. */
function sumCodeVectors(build: StreamedGraph, stem: string, sizes: MimiSizes, places: string): string {
  const { graph, weights } = build;
  const { width, codeWidth, semanticCodebooks, codebooks } = sizes;
  const part = (name: string, first: number, end: number): string => {
    const books = Array.from({ length: end - first }, (_, at) =>
      codebookVectors(weights, stem, first + at, sizes),
    );
    const projection = `${stem}.${name}_residual_vector_quantizer.output_proj.weight`;
    return projectedSum(build, places, books, first, { name: projection, ins: codeWidth, outs: width });
  };
  return graph.add("Add", [
    part("semantic", 0, semanticCodebooks),
    part("acoustic", semanticCodebooks, codebooks),
  ]);
}

/**
 * Writes x above 0, e^x - 1 below. onnxruntime's own Elu rounds differently depending on how threads share the work,
 * so results would depend on the batch.
 */
export function elu(graph: GraphFile, x: string): string {
  const above = graph.add("Relu", [x]);
  const power = graph.add("Exp", [graph.add("Sub", [x, above])]);
  return graph.add("Add", [above, graph.add("Sub", [power, graph.number(1)])]);
}

/** Writes x + conv1(ELU(conv3(ELU(x)))), [streams, time, width]. */
export function residualUnit(build: StreamedGraph, x: string, stem: string, width: number, sizes: MimiSizes) {
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
 * Writes the transformer of the encoder or the decoder: layer norms, layer scales, a window.
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

/** Returns the vectors of a codebook, [codes, code width]. */
export function codebookVectors(weights: WeightsInGraph, stem: string, at: number, sizes: MimiSizes): string {
  const { part, at: layer } = quantiserOf(sizes, at);
  const name = `${stem}.${part}_residual_vector_quantizer.layers.${layer}.codebook`;
  return codeVectors(weights, `${name}.embed_sum`, `${name}.cluster_usage`, sizes.codes, sizes.codeWidth);
}

/** Returns the vectors of a codebook, [codes, width]: the sums collected in training over the usage counts. */
export function codeVectors(
  weights: WeightsInGraph,
  sumsName: string,
  usageName: string,
  codes: number,
  width: number,
): string {
  const { graph } = weights;
  const sums = weights.constant(sumsName, [codes, width]);
  const usage = weights.constant(usageName, [codes], [codes, 1]);
  return graph.add("Div", [sums, graph.add("Max", [usage, graph.number(MIN_USAGE)])]);
}

const MIN_USAGE = 1e-5;

/**
 * Returns the projected sum of frames' vectors in adjacent codebooks: [streams, frames, outs].
 *
 * @param places int64 [all codebooks, streams, frames] of {@link codeVectorIndices}
 * @param books vectors of these codebooks, [size, width] each
 * @param first index of the first of them
 * @param projection the matrix [outs, ins, 1]
 */
export function projectedSum(
  build: StreamedGraph,
  places: string,
  books: readonly string[],
  first: number,
  projection: { readonly name: string; readonly ins: number; readonly outs: number },
): string {
  const { graph, weights } = build;
  const { name, ins: width, outs } = projection;
  // The tables concatenated, and zeros for codes that a frame does not have.
  const vectors = graph.add("Concat", [...books, graph.constant(new Float32Array(width), [1, width])], {
    axis: 0,
  });
  const given = build.slice(places, first, first + books.length, 0);
  const rows = graph.add("Gather", [vectors, given]);
  // Along the first axis, the order of summation does not depend on the number of frames.
  const sum = graph.add("ReduceSum", [rows, graph.integers(0)], { keepdims: 0 });
  const matrix = weights.constant(name, [outs, width, 1], [outs, width]);
  return graph.add("com.microsoft.FusedMatMul", [sum, matrix], { transB: 1 });
}

/**
 * Returns the indices of frames' code vectors: int64 [codebooks, streams, frames].
 *
 * @param pieces equally many frames of each stream, each with equally many codes
 * @param parts number of codebooks in each table of vectors, in order
 */
export function codeVectorIndices(
  pieces: readonly (readonly CodeFrame[])[],
  parts: readonly number[],
  codes: number,
): Tensor {
  const frames = pieces.flat();
  const places: number[] = [];
  let before = 0;
  for (const count of parts) {
    for (let book = 0; book < count; book++) {
      for (const frame of frames)
        places.push(book * codes + (frame[before + book] ?? (count - book) * codes));
    }
    before += count;
  }
  return int64(BigInt64Array.from(places, BigInt), [before, pieces.length, pieces[0]!.length]);
}
