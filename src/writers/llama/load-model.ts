import { WriterError } from "../../model/writer.ts";
import type { LlamaContext, LlamaModel, LlamaRuntime } from "./llama-runtime.ts";
import { PIECE_TOKENS } from "./reading.ts";

export interface ModelOptions {
  readonly modelPath: string;
  /** A low-rank adapter (GGUF) to load beside the model; `null` is none. */
  readonly adapterPath: string | null;
  /** Tokens that the model can hold of one conversation, its own reply included. */
  readonly contextTokens: number;
  /** Replies that may be written at once; more wait. */
  readonly sequences: number;
  readonly threads: number;
}

/** @throws WriterError; its cause names the file. */
export async function loadedModel({ llama }: LlamaRuntime, modelPath: string): Promise<LlamaModel> {
  try {
    return await llama.loadModel({ modelPath, gpuLayers: 0 });
  } catch (cause) {
    throw new WriterError(
      "the writer's file cannot be loaded: it is missing, damaged, or no language model that llama.cpp knows",
      { cause: new Error(`the file is ${modelPath}`, { cause }) },
    );
  }
}

/** A model's context, with the adapter where there is one. @throws WriterError; its cause names the files. */
export async function contextOf(model: LlamaModel, options: ModelOptions): Promise<LlamaContext> {
  const { adapterPath, sequences, contextTokens, threads } = options;
  try {
    return await model.createContext({
      sequences,
      contextSize: contextTokens,
      batchSize: PIECE_TOKENS,
      // Two threads beside speech are six times slower than one: each waits for the other at every layer.
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
