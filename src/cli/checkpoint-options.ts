import type { CheckpointManifest } from "../catalogue/checkpoint-manifest.ts";
import { DEFAULT_WRITER } from "../catalogue/checkpoints.ts";
import { mannerOf } from "../catalogue/hub/hub-manifest.ts";
import type { Settings } from "../settings/schema.ts";
import { embeddedWriter } from "../writers/llama/embedded.ts";
import type { GgufWriterOptions } from "../writers/llama/gguf-writer.ts";
import { largeWriter } from "./large-writer.ts";

/** How a checkpoint's file is run. `isQuiet` tells whether nobody is spoken to just now. */
export function checkpointOptions(
  manifest: CheckpointManifest,
  path: string,
  writer: Settings["writer"],
  isQuiet: () => boolean,
): GgufWriterOptions {
  const { name } = manifest;
  if (name === DEFAULT_WRITER) return embeddedWriter(path);
  return largeWriter({ name, modelPath: path, manner: mannerOf(manifest), isQuiet }, writer);
}
