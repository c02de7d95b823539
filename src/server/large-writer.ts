import type { CheckpointManifest } from "../catalogue/checkpoint-manifest.ts";
import { promptStyleOf } from "../catalogue/hub/hub-manifest.ts";
import type { PromptStyle } from "../catalogue/hub-writers.ts";
import type { Settings } from "../settings/schema.ts";
import { SPOKEN_PROMPT } from "../writers/dialogue-messages.ts";
import { exampleTurns } from "../writers/llama/example-turns.ts";
import type { GgufWriterOptions } from "../writers/llama/gguf-writer.ts";
import { freeMemoryBytes } from "../writers/llama/open-model.ts";

/** A model that is not the one that comes with Antiphon. */
export interface LargeModel {
  readonly name: string;
  readonly modelPath: string;
  readonly promptStyle: PromptStyle;
  /** Whether nobody is spoken to just now. */
  readonly isQuiet: () => boolean;
}

/** How a larger model is run: it may read and write more, on more threads, as the settings have it. */
export function largeWriter(
  { name, modelPath, promptStyle, isQuiet }: LargeModel,
  writer: Settings["writer"],
): GgufWriterOptions {
  const contextTokens = writer.contextTokens + THOUGHT_TOKENS + writer.maxTokens;
  // English has four characters a token; other languages fewer, and then less is read.
  const maxChars = 3 * writer.contextTokens;
  return {
    name,
    modelPath,
    adapterPath: null,
    template: promptStyle.template,
    systemPrompt: systemPromptOf(writer, promptStyle.instructions ?? undefined),
    // Whoever says how to speak shows it, too.
    examples: writer.systemPrompt === undefined ? exampleTurns : () => [],
    window: { maxChars, stepChars: Math.ceil(maxChars / 4) },
    contextTokens,
    maxTokens: writer.maxTokens,
    maxSentences: 8,
    minConfidence: null,
    temperatureScale: 1,
    sequences: writer.replies,
    threads: writer.threads,
    isQuiet,
    isBatched: writer.batchReplies,
    characterBytes: true,
    freeBytes: freeMemoryBytes,
  };
}

/** How to speak, as the operator or the model's entry says it or as we do, and after it what the operator asks of every reply. */
export function systemPromptOf(
  { systemPrompt, instructions }: Settings["writer"],
  spoken: string = SPOKEN_PROMPT,
): string {
  const howToSpeak = systemPrompt ?? spoken;
  return instructions === undefined ? howToSpeak : `${howToSpeak}\n\n${instructions}`;
}

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
  return largeWriter(
    { name: manifest.name, modelPath: path, promptStyle: promptStyleOf(manifest), isQuiet },
    writer,
  );
}

/** Room for a model that thinks although it is told not to. */
const THOUGHT_TOKENS = 256;
