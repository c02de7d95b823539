import { WriterError } from "../../model/writer.ts";
import { type LlamaContext, type LlamaModel, type LlamaRuntime, openLlama } from "./llama-runtime.ts";
import { contextOf, loadedModel, type ModelOptions } from "./load-model.ts";
import { requireMemory } from "./memory-needs.ts";
import { forgetEstimates } from "./spare-memory.ts";

/** A model that is loaded, and the memory for what it reads and writes. */
interface OpenModel {
  readonly runtime: LlamaRuntime;
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  close(): Promise<void>;
}

/** @throws WriterError when the file or its adapter cannot be loaded, or there is too little memory for it. */
export async function openModel(options: ModelOptions): Promise<OpenModel> {
  const runtime = await openLlama().catch((error: Error) => {
    throw new WriterError(error.message, { cause: error });
  });
  let model: LlamaModel | null = null;
  const close = async () => {
    await model?.dispose();
    await runtime.release();
  };
  try {
    if (options.freeBytes !== null) await requireMemory(runtime, options, options.freeBytes());
    model = await loadedModel(runtime, options.modelPath);
    await forgetEstimates(model);
    return { runtime, model, context: await contextOf(runtime, model, options), close };
  } catch (error) {
    await close();
    throw error;
  }
}
