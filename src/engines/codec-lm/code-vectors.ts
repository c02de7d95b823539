import { int64, type Tensor } from "../../onnx/tensor.ts";
import type { CodeFrame } from "./networks/frame-decoder.ts";
import type { StreamedGraph } from "./networks/streamed-graph.ts";
import type { WeightsInGraph } from "./networks/weights-in-graph.ts";

/** The vectors of a codebook, [codes, width]: what was summed up for each code in training, over how often it was used. */
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
 * The sums of the vectors that frames stand for in some neighbouring codebooks, projected: [streams, frames, outs].
 *
 * @param places int64 [all codebooks, streams, frames], as {@link placesOf} gives them
 * @param books the vectors of these codebooks, [size, width] each
 * @param first of these codebooks
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
  // The vectors of these codebooks, one below the other, and zeros for a code that a frame does not have.
  const vectors = graph.add("Concat", [...books, graph.constant(new Float32Array(width), [1, width])], {
    axis: 0,
  });
  const given = build.slice(places, first, first + books.length, 0);
  const rows = graph.add("Gather", [vectors, given]);
  // Along the first axis sums are always added in the same order, however many frames there are.
  const sum = graph.add("ReduceSum", [rows, graph.integers(0)], { keepdims: 0 });
  const matrix = weights.constant(name, [outs, width, 1], [outs, width]);
  return graph.add("com.microsoft.FusedMatMul", [sum, matrix], { transB: 1 });
}

/**
 * Where the vectors of frames' codes are: int64 [codebooks, streams, frames].
 *
 * @param pieces as many frames of each stream, each of as many of the first codebooks as it has
 * @param parts how many codebooks there are in each table of vectors, one behind the other
 */
export function placesOf(
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
