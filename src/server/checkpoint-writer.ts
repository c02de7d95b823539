import type { CheckpointManifest } from "../catalogue/checkpoint-manifest.ts";
import { DEFAULT_WRITER } from "../catalogue/checkpoints.ts";
import { hubWriterOf } from "../catalogue/hub/hub-manifest.ts";
import { WriterError } from "../model/writer.ts";
import type { Settings } from "../settings/schema.ts";
import { openGgufWriter } from "../writers/llama/gguf-writer.ts";
import { openReplySource } from "../writers/replies/open-reply-source.ts";
import { behindReplies, type InnerWriter, withReplies } from "./behind-replies.ts";
import { AUTO, chooseCheckpoint } from "./choose-checkpoint.ts";
import { openEmbeddedWriter } from "./embedded-writer.ts";
import { checkpointOptions } from "./large-writer.ts";
import { measuredSpeed } from "./measured-speed.ts";
import type { WriterWeights } from "./pull-writer.ts";

/** What opening a checkpoint's writer may need beyond the settings. */
export interface CheckpointSources {
  /** Sees to it that a checkpoint's weights are there. */
  weights(checkpoint: string): Promise<WriterWeights>;
  /** Whether nobody is spoken to just now. */
  isQuiet(): boolean;
  /** Is told, in plain sentences, how `auto` came to its choice, and what became of the adapter. */
  note(sentence: string): void;
  /** Ends the choice, and the merging. */
  readonly signal: AbortSignal;
}

/** The writer of an installed checkpoint, by the setting `writer.checkpoint`. */
export function checkpointWriter(
  settings: Settings,
  { weights, isQuiet, note, signal }: CheckpointSources,
): InnerWriter {
  const { dataDir, writer } = settings;
  const wanted = writer.checkpoint === "writer" ? DEFAULT_WRITER : writer.checkpoint;
  const open = async () => {
    const speedOf = (manifest: CheckpointManifest) => measuredSpeed(manifest, settings, signal);
    const rankOf = (manifest: CheckpointManifest) => hubWriterOf(manifest)?.rank ?? null;
    const name =
      wanted === AUTO ? await chooseCheckpoint({ dataDir, rankOf, speedOf, note, signal }) : wanted;
    const { path, manifest, problem } = await weights(name);
    if (problem !== null || manifest === null) {
      const command = `antiphon models pull ${name === DEFAULT_WRITER ? "writer" : name}`;
      throw new WriterError(`the writer's weights are missing or damaged: run ${command}`, {
        cause: new Error(problem ?? ""),
      });
    }
    if (name !== DEFAULT_WRITER) {
      const model = await openGgufWriter(checkpointOptions(manifest, path, writer, isQuiet));
      return behindReplies(model, model.parameters, writer);
    }
    const model = await openEmbeddedWriter({ manifest, dataDir, signal }, note);
    return withReplies(model, writer, openReplySource);
  };
  return { name: wanted, open };
}
