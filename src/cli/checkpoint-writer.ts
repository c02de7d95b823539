import { DEFAULT_WRITER } from "../catalogue/checkpoints.ts";
import { mannerOf } from "../catalogue/hub/hub-manifest.ts";
import { type Writer, WriterError } from "../model/writer.ts";
import type { Settings } from "../settings/schema.ts";
import { embeddedWriter } from "../writers/llama/embedded.ts";
import { openGgufWriter } from "../writers/llama/gguf-writer.ts";
import { largeWriter } from "./large-writer.ts";
import type { WriterWeights } from "./pull-writer.ts";

export interface CheckpointSources {
  weights(checkpoint: string): Promise<WriterWeights>;
  /** Whether nobody is spoken to just now. */
  isQuiet(): boolean;
}

/** The writer of an installed checkpoint, by the setting `writer.checkpoint`. */
export function checkpointWriter(
  { writer }: Settings,
  { weights, isQuiet }: CheckpointSources,
): { readonly name: string; open(): Promise<Writer> } {
  const name = writer.checkpoint;
  const open = async () => {
    const { path, manifest, problem } = await weights(name);
    if (problem !== null || manifest === null) {
      throw new WriterError(
        `the writer's weights are not there, or are damaged: run antiphon models pull ${name === DEFAULT_WRITER ? "writer" : name}`,
        { cause: new Error(problem ?? "") },
      );
    }
    const isSmall = manifest.name === DEFAULT_WRITER;
    return openGgufWriter(
      isSmall
        ? embeddedWriter(path)
        : largeWriter({ name: manifest.name, modelPath: path, manner: mannerOf(manifest), isQuiet }, writer),
    );
  };
  return { name, open };
}
