import type { GraphFile } from "../../tensors/graph-file.ts";
import type { Weights } from "../../tensors/weights-folder.ts";
import { FirstStack, type FirstStackSizes, leastRowsOf } from "./first-stack.ts";
import { FrameBatch, type FrameModel } from "./frame-batch.ts";
import { InnerStack, type InnerStackSizes } from "./inner-stack.ts";
import type { Setup } from "./model.ts";
import type { Opened } from "./opened.ts";

/** A graph of a stack, and what errors call it. */
interface Stack<Sizes> {
  readonly graph: GraphFile;
  readonly sizes: Sizes;
  readonly name: string;
}

/** What a batch is opened of. */
export interface BatchParts extends Pick<FrameModel, "positions" | "codes" | "decoder" | "embeddings"> {
  /** Of both stacks. */
  readonly weights: Weights;
  readonly first: Stack<FirstStackSizes>;
  readonly inner: Stack<InnerStackSizes>;
}

/** Opens the stacks and the batch over them. It is closed before all that was opened ahead of it. */
export async function openBatch(opened: Opened, setup: Setup, parts: BatchParts): Promise<FrameBatch> {
  const { weights, first, inner, ...model } = parts;
  const { precision, places = 1 } = setup;
  const leastRows = leastRowsOf(precision);
  await model.embeddings.bringNear();
  const large = await opened.session(first.graph, weights, first.name);
  const small = await opened.session(inner.graph, weights, inner.name);
  const batch = new FrameBatch(
    {
      ...model,
      width: first.sizes.width,
      codebooks: inner.sizes.codebooks,
      first: new FirstStack(large, first.sizes, places, leastRows),
      inner: new InnerStack(small, inner.sizes, places, leastRows),
    },
    setup,
  );
  opened.keep({ release: () => batch.close() });
  return batch;
}
