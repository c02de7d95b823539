import type { WriterManner } from "../catalogue/hub-writers.ts";
import type { Settings } from "../settings/schema.ts";
import { SPOKEN_PROMPT } from "../writers/dialogue-messages.ts";
import type { GgufWriterOptions } from "../writers/llama/gguf-writer.ts";

/** How a model is run that is larger than the one that comes with Antiphon: it may read and write more. */
export function largeWriter(
  name: string,
  modelPath: string,
  { template, instructions }: WriterManner,
  writer: Settings["writer"],
): GgufWriterOptions {
  return {
    name,
    modelPath,
    adapterPath: null,
    template,
    systemPrompt: writer.systemPrompt ?? instructions ?? SPOKEN_PROMPT,
    window: { maxChars: 6_000, stepChars: 1_500 },
    contextTokens: 2_048 + writer.maxTokens,
    maxTokens: writer.maxTokens,
    maxSentences: 8,
    leastSureness: null,
    temperatureScale: 1,
    sequences: 2,
    threads: 1,
    characterBytes: true,
  };
}
