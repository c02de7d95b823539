import { availableParallelism, freemem } from "node:os";
import { WriterError } from "../../core/writer.ts";
import { BATCH_TOKENS } from "./generation.ts";
import {
  freeEstimates,
  type LlamaContext,
  type LlamaModel,
  type LlamaRuntime,
  LOAD_OPTIONS,
  openLlama,
} from "./llama-runtime.ts";

/** A model that is loaded, and the memory for what it reads and writes. */
interface OpenModel {
  readonly runtime: LlamaRuntime;
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  close(): Promise<void>;
}

/** @throws WriterError when the file cannot be loaded, or there is too little memory for it. */
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
    model = await loadModel(runtime, options.modelPath);
    await freeEstimates(model);
    return { runtime, model, context: await createContext(runtime, model, options), close };
  } catch (error) {
    await close();
    throw error;
  }
}

export interface ModelOptions {
  readonly modelPath: string;
  /** Threads at most; 0 is one for each core that computes, but one. */
  readonly threads: number;
  /** Whether no speech is computed just now. While some is, one thread computes, and speech has the other cores. */
  readonly isQuiet: () => boolean;
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
async function loadModel({ llama, module }: LlamaRuntime, modelPath: string): Promise<LlamaModel> {
  try {
    return await llama.loadModel({ modelPath, ...LOAD_OPTIONS });
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
export function maxThreads({ llama }: LlamaRuntime, { threads }: Pick<ModelOptions, "threads">): number {
  return threads > 0 ? threads : Math.max(1, Math.min(availableParallelism(), llama.cpuMathCores) - 1);
}

/** A model's context. @throws WriterError; its cause names the file. */
async function createContext(
  runtime: LlamaRuntime,
  model: LlamaModel,
  options: ModelOptions,
): Promise<LlamaContext> {
  const { sequences, contextTokens, isBatched } = options;
  const threads = maxThreads(runtime, options);
  // A context never takes more than there might be when it is made.
  runtime.llama.maxThreads = Math.max(runtime.llama.maxThreads, threads);
  try {
    return await model.createContext({
      sequences,
      contextSize: contextTokens,
      batchSize: BATCH_TOKENS * (isBatched ? sequences : 1),
      threads,
      flashAttention: false,
    });
  } catch (cause) {
    throw new WriterError("the writer's file cannot be used: there may be too little memory for it", {
      cause: new Error(`the file is ${options.modelPath}`, { cause }),
    });
  }
}

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
async function requireMemory(
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
      batchSize: BATCH_TOKENS,
      modelGpuLayers: 0,
      flashAttention: false,
    });
    return model.cpuRam + context.cpuRam;
  }
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
