import { fileURLToPath } from "node:url";
import type { GgufWriterOptions } from "./gguf-writer.ts";

/** What the model was taught: short spoken replies (training/writer). */
export const EMBEDDED_ADAPTER = fileURLToPath(
  new URL("../../../../checkpoints/smollm2-135m.adapter.gguf", import.meta.url),
);

/**
 * How SmolLM2-135M-Instruct is run as the embedded writer. `modelPath` is its GGUF file; the adapter is `null` where it
 * is merged into that.
 */
export function embeddedWriter(
  modelPath: string,
  adapterPath: string | null = EMBEDDED_ADAPTER,
): GgufWriterOptions {
  return {
    name: "smollm2-135m",
    modelPath,
    adapterPath,
    template: "chatml",
    systemPrompt: null,
    // Reading costs about 4 ms a token, and so small a model makes little of what is long ago.
    window: { maxChars: 400, stepChars: 120 },
    contextTokens: 512,
    maxTokens: 64,
    maxSentences: 3,
    // Below it, most of what it adds to a first sentence spoils that.
    minConfidence: -0.75,
    temperatureScale: 0.6,
    sequences: 4,
    // Two threads beside speech are six times slower than one: each waits for the other at every layer.
    threads: 1,
    isQuiet: () => true,
    isBatched: false,
    characterBytes: false,
    freeBytes: null,
  };
}
