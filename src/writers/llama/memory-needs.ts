import { freemem } from "node:os";
import { WriterError } from "../../model/writer.ts";
import type { LlamaRuntime } from "./llama-runtime.ts";
import type { ModelOptions } from "./load-model.ts";
import { PIECE_TOKENS } from "./reading.ts";

/** Bytes of memory that this process may still take, of what the machine has and of what it was given. */
export function freeMemoryBytes(): number {
  return Math.min(freemem(), process.availableMemory?.() ?? Number.POSITIVE_INFINITY);
}

/**
 * Refuses what will not fit: a file and the context beside it, as llama.cpp lays them out. The file is only begun to be
 * read. What cannot be estimated is let through, for loading it to say what is wrong.
 *
 * @throws WriterError; its cause has both figures.
 */
export async function requireMemory(
  { llama, module }: LlamaRuntime,
  { modelPath, contextTokens, sequences }: ModelOptions,
  freeBytes: number,
): Promise<void> {
  const needed = await neededBytes().catch(() => 0);
  if (needed <= freeBytes) return;
  throw new WriterError("there is too little memory for the writer's language model", {
    cause: new Error(
      `${modelPath} and its context of ${sequences} × ${contextTokens} tokens take ${megabytes(needed)} of memory, and ` +
        `${megabytes(freeBytes)} are free: choose a smaller model, set writer.contextTokens or writer.replies lower, or free memory`,
    ),
  });

  async function neededBytes(): Promise<number> {
    const info = await module.readGgufFileInfo(modelPath, {
      sourceType: "filesystem",
      logWarnings: false,
      spliceSplitFiles: false,
    });
    const insights = await module.GgufInsights.from(info, llama);
    const model = await insights.estimateModelResourceRequirementsV2({ gpuLayers: 0 });
    const context = await insights.estimateContextResourceRequirementsV2({
      contextSize: contextTokens,
      sequences,
      batchSize: PIECE_TOKENS,
      modelGpuLayers: 0,
      flashAttention: false,
    });
    return model.cpuRam + context.cpuRam;
  }
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
