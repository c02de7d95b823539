import type { Settings } from "../../settings/schema.ts";
import { DEFAULT_SYSTEM_PROMPT } from "../../writers/dialogue-messages.ts";
import type { GgufWriterOptions } from "../../writers/llama/gguf-writer.ts";
import { freeMemoryBytes } from "../../writers/llama/open-model.ts";
import type { Template } from "../../writers/llama/prompt.ts";

/** A language model in a file. */
interface ModelFile {
  readonly name: string;
  readonly modelPath: string;
  readonly template: Template;
  /** Whether no speech is computed just now. */
  readonly isQuiet: () => boolean;
}

/** How a language model in a file is run, by the settings. */
export function ggufOptions(file: ModelFile, writer: Settings["writer"]): GgufWriterOptions {
  // Other languages have fewer characters per token, so the prompt is shortened later.
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
export function systemPromptOf({
  systemPrompt = DEFAULT_SYSTEM_PROMPT,
  instructions,
}: Settings["writer"]): string {
  return instructions === undefined ? systemPrompt : `${systemPrompt}\n\n${instructions}`;
}

/** Extra tokens for models that think despite enable_thinking=false. */
const THOUGHT_TOKENS = 256;
