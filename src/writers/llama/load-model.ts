import { availableParallelism } from "node:os";
import { WriterError } from "../../model/writer.ts";
import { type LlamaContext, type LlamaModel, type LlamaRuntime, LOADING } from "./llama-runtime.ts";
import { PIECE_TOKENS } from "./reading.ts";
import type { ThreadOptions } from "./thread-choice.ts";

export interface ModelOptions extends ThreadOptions {
  readonly modelPath: string;
  /** A low-rank adapter (GGUF) to load beside the model; `null` is none. */
  readonly adapterPath: string | null;
  /** Tokens that the model can hold of one conversation, its own reply included. */
  readonly contextTokens: number;
  /** Replies that may be written at once; more wait. */
  readonly sequences: number;
  /** Whether replies that are written at once are computed together: faster, but the last bits of each depend on all. */
  readonly isBatched: boolean;
  /** Bytes of memory that are free, where what will not fit is to be refused; `null` lets everything be tried. */
  readonly freeBytes: (() => number) | null;
}

/** @throws WriterError; its cause names the file, and the model's architecture where that can be read. */
export async function loadedModel({ llama, module }: LlamaRuntime, modelPath: string): Promise<LlamaModel> {
  try {
    return await llama.loadModel({ modelPath, ...LOADING });
  } catch (cause) {
    const architecture = await architectureOf(module, modelPath);
    const kind = architecture === null ? "" : `, its architecture “${architecture}”`;
    throw new WriterError(
      "the writer's file cannot be loaded: it is missing, damaged, or no language model that llama.cpp knows",
      { cause: new Error(`the file is ${modelPath}${kind}`, { cause }) },
    );
  }
}

async function architectureOf(module: LlamaRuntime["module"], modelPath: string): Promise<string | null> {
  const options = { readTensorInfo: false, sourceType: "filesystem", logWarnings: false } as const;
  const info = await module.readGgufFileInfo(modelPath, options).catch(() => null);
  return info?.metadata.general.architecture ?? null;
}

/** The most threads that a model may take. Cores that share what computes count once. */
export function maxThreads({ llama }: LlamaRuntime, { threads }: ThreadOptions): number {
  return threads > 0 ? threads : Math.max(1, Math.min(availableParallelism(), llama.cpuMathCores));
}

/** A model's context, with the adapter where there is one. @throws WriterError; its cause names the files. */
export async function contextOf(
  runtime: LlamaRuntime,
  model: LlamaModel,
  options: ModelOptions,
): Promise<LlamaContext> {
  const { adapterPath, sequences, contextTokens, isBatched } = options;
  const threads = maxThreads(runtime, options);
  // A context never takes more than there might be when it is made.
  runtime.llama.maxThreads = Math.max(runtime.llama.maxThreads, threads);
  try {
    return await model.createContext({
      sequences,
      contextSize: contextTokens,
      batchSize: PIECE_TOKENS * (isBatched ? sequences : 1),
      threads,
      flashAttention: false,
      ...(adapterPath === null ? {} : { lora: adapterPath }),
    });
  } catch (cause) {
    const what =
      adapterPath === null
        ? "there may be too little memory for it"
        : "its adapter is missing, damaged or another model's: install antiphon again";
    throw new WriterError(`the writer's file cannot be used: ${what}`, {
      cause: new Error(`the file is ${options.modelPath}, the adapter ${adapterPath ?? "none"}`, { cause }),
    });
  }
}
