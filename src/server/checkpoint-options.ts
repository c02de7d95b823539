import type { CheckpointManifest } from "../catalogue/checkpoint-manifest.ts";
import { mannerOf } from "../catalogue/hub/hub-manifest.ts";
import type { Settings } from "../settings/schema.ts";
import type { GgufWriterOptions } from "../writers/llama/gguf-writer.ts";
import { largeWriter } from "./large-writer.ts";

/**
 * How the file of any checkpoint but the small one's is run; that has `embedded-writer.ts`. `isQuiet` tells whether
 * nobody is spoken to just now.
 */
export function checkpointOptions(
  manifest: CheckpointManifest,
  path: string,
  writer: Settings["writer"],
  isQuiet: () => boolean,
): GgufWriterOptions {
  return largeWriter({ name: manifest.name, modelPath: path, manner: mannerOf(manifest), isQuiet }, writer);
}
