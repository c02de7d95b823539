import type { Writer } from "../model/writer.ts";
import type { Settings } from "../settings/schema.ts";
import { layersBefore, layersFor } from "../writers/replies/layers.ts";
import { openReplySource } from "../writers/replies/open-reply-source.ts";
import type { ReplySource } from "../writers/replies/reply-source.ts";
import type { WriterStages } from "../writers/writer-chain.ts";

/** Who writes, before it is open: a model, and what goes before it alone. */
export interface InnerWriter {
  readonly name: string;
  open(): Promise<Stages>;
}

type Stages = Pick<WriterStages, "model" | "replies" | "isInstructed">;

/**
 * A model that reads instructions, and before it what suits its size.
 *
 * @param parameters `null` for one elsewhere
 */
export function behindReplies(
  model: Writer,
  parameters: number | null,
  writer: Settings["writer"],
): Promise<Stages> {
  const isInstructed = writer.instructions !== undefined || writer.systemPrompt !== undefined;
  const most = layersBefore(parameters);
  return withReplies(model, writer, () =>
    openReplySource({
      most,
      layersFor: (dialogue) =>
        layersFor(most, dialogue, { isInstructed, callsTools: model.callsTools === true }),
    }),
  ).then((stages) => ({ ...stages, isInstructed }));
}

/** A model and the replies before it, unless the model is to write everything. The model is closed where that fails. */
export async function withReplies(
  model: Writer,
  { authoredReplies }: Settings["writer"],
  open: () => Promise<ReplySource>,
): Promise<Stages> {
  try {
    return { model, replies: authoredReplies ? await open() : null };
  } catch (error) {
    await model.close();
    throw error;
  }
}
