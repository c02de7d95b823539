import type { Settings } from "../../settings/schema.ts";
import { SPOKEN_PROMPT } from "../../writers/dialogue-messages.ts";
import type { GgufWriterOptions } from "../../writers/llama/gguf-writer.ts";
import { freeMemoryBytes } from "../../writers/llama/open-model.ts";
import type { Template } from "../../writers/llama/prompt.ts";

/** A language model in a file. */
export interface ModelFile {
  readonly name: string;
  readonly modelPath: string;
  readonly template: Template;
  /** Whether no speech is computed just now. */
  readonly isQuiet: () => boolean;
}

/** How a language model in a file is run, by the settings. */
export function ggufOptions(file: ModelFile, writer: Settings["writer"]): GgufWriterOptions {
  // English has four characters a token; other languages fewer, and then less is read.
  const maxChars = 3 * writer.contextTokens;
  return {
    ...file,
    systemPrompt: systemPromptOf(writer),
    window: { maxChars, stepChars: Math.ceil(maxChars / 4) },
    contextTokens: writer.contextTokens + THOUGHT_TOKENS + writer.maxTokens,
    maxTokens: writer.maxTokens,
    sequences: writer.replies,
    threads: writer.threads,
    isBatched: writer.batchReplies,
    freeBytes: freeMemoryBytes,
  };
}

/** The system prompt of the settings or the default one, followed by the operator's instructions. */
export function systemPromptOf({ systemPrompt = SPOKEN_PROMPT, instructions }: Settings["writer"]): string {
  return instructions === undefined ? systemPrompt : `${systemPrompt}\n\n${instructions}`;
}

/** Room for a model that thinks although it is told not to. */
const THOUGHT_TOKENS = 256;
