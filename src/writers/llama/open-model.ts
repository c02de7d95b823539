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

interface OpenModel {
  readonly runtime: LlamaRuntime;
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  close(): Promise<void>;
}

/** @throws WriterError when the file cannot be loaded or memory is too small */
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
  /** Maximum of threads; 0: one per compute core, minus one. */
  readonly threads: number;
  /** Whether no speech is being computed; otherwise one thread is used. */
  readonly isQuiet: () => boolean;
  /** Context length per conversation, reply included. */
  readonly contextTokens: number;
  /** Concurrent replies; more wait. */
  readonly sequences: number;
  /** Whether concurrent replies are batched: faster, but their last bits depend on one another. */
  readonly isBatched: boolean;
  /** Returns free memory, to refuse models that do not fit; `null` skips the check. */
  readonly freeBytes: (() => number) | null;
}

/** @throws WriterError; its cause names the file and, if readable, the architecture */
async function loadModel({ llama, module }: LlamaRuntime, modelPath: string): Promise<LlamaModel> {
  try {
    return await llama.loadModel({ modelPath, ...LOAD_OPTIONS });
  } catch (cause) {
    const options = { readTensorInfo: false, sourceType: "filesystem", logWarnings: false } as const;
    const info = await module.readGgufFileInfo(modelPath, options).catch(() => null);
    const architecture = info?.metadata.general.architecture;
    const kind = architecture === undefined ? "" : `, its architecture “${architecture}”`;
    throw new WriterError(
      "the writer's file cannot be loaded: it is missing, damaged, or no language model that llama.cpp knows",
      { cause: new Error(`the file is ${modelPath}${kind}`, { cause }) },
    );
  }
}

/** Returns the maximum of threads, hyper-threads not counted. */
export function maxThreads({ llama }: LlamaRuntime, { threads }: Pick<ModelOptions, "threads">): number {
  return threads > 0 ? threads : Math.max(1, Math.min(availableParallelism(), llama.cpuMathCores) - 1);
}

/** @throws WriterError; its cause names the file */
async function createContext(
  runtime: LlamaRuntime,
  model: LlamaModel,
  options: ModelOptions,
): Promise<LlamaContext> {
  const { sequences, contextTokens, isBatched } = options;
  const threads = maxThreads(runtime, options);
  // A context cannot raise its thread count later.
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

/** Returns free memory within the machine's and the container's limits. */
export function freeMemoryBytes(): number {
  return Math.min(freemem(), process.availableMemory?.() ?? Number.POSITIVE_INFINITY);
}

/**
 * Rejects a model and context that do not fit, by llama.cpp's estimate from the file's header. Estimation errors are
 * ignored; loading reports them.
 *
 * @throws WriterError; its cause has both figures
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
