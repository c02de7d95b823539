import type { GraphFile } from "../../tensors/graph-file.ts";
import type { Weights } from "../../tensors/weights-folder.ts";
import { Backbone, type BackboneSizes, minRowsOf } from "./backbone.ts";
import { DepthDecoder, type DepthDecoderSizes } from "./depth-decoder.ts";
import { FrameBatch, type FrameModel } from "./frame-batch.ts";
import type { Setup } from "./model.ts";
import type { Opened } from "./opened.ts";

/** A transformer's graph, and what errors call it. */
interface Part<Sizes> {
  readonly graph: GraphFile;
  readonly sizes: Sizes;
  readonly name: string;
}

/** What a batch is opened of. */
export interface BatchParts extends Pick<FrameModel, "positions" | "codes" | "decoder" | "embeddings"> {
  /** Of both transformers. */
  readonly weights: Weights;
  readonly backbone: Part<BackboneSizes>;
  readonly depthDecoder: Part<DepthDecoderSizes>;
}

/** Opens the transformers and the batch over them. It is closed before all that was opened ahead of it. */
export async function openBatch(opened: Opened, setup: Setup, parts: BatchParts): Promise<FrameBatch> {
  const { weights, backbone, depthDecoder, ...model } = parts;
  const { precision, places = 1 } = setup;
  const minRows = minRowsOf(precision);
  await model.embeddings.bringNear();
  const large = await opened.session(backbone.graph, weights, backbone.name);
  const small = await opened.session(depthDecoder.graph, weights, depthDecoder.name);
  const batch = new FrameBatch(
    {
      ...model,
      width: backbone.sizes.width,
      codebooks: depthDecoder.sizes.codebooks,
      backbone: new Backbone(large, backbone.sizes, places, minRows),
      depthDecoder: new DepthDecoder(small, depthDecoder.sizes, places, minRows),
    },
    setup,
  );
  opened.keep({ release: () => batch.close() });
  return batch;
}
