import { GraphFile } from "../../tensors/graph-file.ts";

/**
 * Writes one of several heads into a graph, which computes that one alone.
 *
 * @param which int64, without dimensions: the head's number, from 0
 * @param count of heads
 * @param write writes a head into the graph it is given, and says what its result is called there
 * @param shape of the result
 * @returns the result's name
 */
export function chosenHead(
  graph: GraphFile,
  which: string,
  count: number,
  write: (into: GraphFile, head: number) => string,
  shape: readonly (number | string)[],
): string {
  const between = (into: GraphFile, first: number, end: number): string => {
    if (end - first === 1) return write(into, first);
    const middle = (first + end) >> 1;
    const isBelow = into.add("Less", [which, into.scalar(middle)]);
    const branch = (from: number, to: number): GraphFile => {
      const inner = new GraphFile(`heads.${from}.${to}.`);
      const result = inner.addMany("Identity", [between(inner, from, to)], [`heads.${from}.${to}`])[0]!;
      inner.output(result, shape);
      return inner;
    };
    return into.add("If", [isBelow], {
      then_branch: { graph: branch(first, middle) },
      else_branch: { graph: branch(middle, end) },
    });
  };
  return between(graph, 0, count);
}
