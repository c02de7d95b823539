import type { StreamedGraph } from "./streamed-graph.ts";
import type { WeightsInGraph } from "./weights-in-graph.ts";

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
  return graph.add("Div", [sums, graph.add("Max", [usage, graph.number(SMALLEST_USAGE)])]);
}

const SMALLEST_USAGE = 1e-5;

/**
 * The sums of the vectors that frames of codes stand for in some neighbouring codebooks, as far as the frames have codes
 * of them: [frames, width].
 *
 * @param codes int64 [codebooks, frames], of as many of the first codebooks as there are
 * @param books the codebooks' vectors, [size, width] each
 * @param first of these codebooks
 */
export function summedVectors(
  build: StreamedGraph,
  codes: string,
  books: readonly string[],
  first: number,
  size: number,
): string {
  const { graph } = build;
  const count = books.length;
  // The vectors of all the codebooks, one below the other.
  const vectors = count === 1 ? books[0]! : graph.add("Concat", books, { axis: 0 });
  const given = build.slice(codes, first, first + count, 0);
  const starts = BigInt64Array.from({ length: count }, (_, at) => BigInt(at * size));
  const below = graph.add("Slice", [
    graph.constant(starts, [count, 1]),
    graph.integers(0),
    build.sizeOf(given, 0),
    graph.integers(0),
  ]);
  const rows = graph.add("Gather", [vectors, graph.add("Add", [given, below])]);
  return graph.add("ReduceSum", [rows, graph.integers(0)], { keepdims: 0 });
}
