import { setTimeout as sleep } from "node:timers/promises";
import type { Llama, LlamaModel } from "node-llama-cpp";

export type {
  LlamaContext,
  LlamaContextSequence,
  LlamaEmbeddingContext,
  LlamaModel,
  SequenceEvaluateOptions,
  Token,
  TokenBias,
} from "node-llama-cpp";

type Module = typeof import("node-llama-cpp");

/** llama.cpp, as long as somebody holds it. */
export interface LlamaRuntime {
  readonly llama: Llama;
  readonly module: Module;
  /** The last one to release it frees it. */
  release(): Promise<void>;
}

/**
 * Loads llama.cpp's build for the CPU; everybody who holds it shares the one. The only file that imports the package.
 *
 * @throws Error if it is not installed or cannot be loaded
 */
export async function openLlama(): Promise<LlamaRuntime> {
  users++;
  try {
    shared ??= load();
    const { module, llama } = await shared;
    let isReleased = false;
    return {
      llama,
      module,
      async release() {
        if (isReleased) return;
        isReleased = true;
        await releaseShared();
      },
    };
  } catch (error) {
    await releaseShared();
    throw new Error(
      "llama.cpp cannot be loaded here: install it with `npm install node-llama-cpp@3.21.1`, or choose another writer.kind",
      { cause: error },
    );
  }
}

let shared: Promise<{ module: Module; llama: Llama }> | null = null;
let users = 0;

async function load(): Promise<{ module: Module; llama: Llama }> {
  const module = await import("node-llama-cpp");
  const llama = await module.getLlama({
    gpu: false,
    build: "never",
    skipDownload: true,
    logLevel: module.LlamaLogLevel.error,
    // What llama.cpp has to say of a broken file reaches the caller as an error.
    logger: () => {},
  });
  return { module, llama };
}

async function releaseShared(): Promise<void> {
  users--;
  if (users > 0 || shared === null) return;
  const loaded = shared;
  shared = null;
  const { llama } = await loaded.catch(() => ({ llama: null }));
  // Now and then it waits for ever for the remains of a file that could not be loaded: those end with the program.
  const ended = new AbortController();
  const late = sleep(MAX_DISPOSAL_MS, undefined, { signal: ended.signal }).catch(() => {});
  await Promise.race([llama?.dispose(), late]).finally(() => ended.abort());
}

const MAX_DISPOSAL_MS = 3_000;

/**
 * How every model is loaded. Read and not mapped: where llama.cpp lays the weights out anew for the processor (AMX, and
 * some formats on any), a mapped file would stay in memory beside them.
 */
export const LOAD_OPTIONS = { gpuLayers: 0, useMmap: false } as const;

/** In which order the pieces of work of several replies run. */
export interface WorkQueue {
  /** Runs `work` when it is its turn; what the work before it came to does not matter. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Lets one piece of work run at a time, in the order in which they came. */
export class SerialQueue implements WorkQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => {});
    return mine;
  }
}

/** Lets everything run as it comes: llama.cpp puts into one batch what comes at one time. */
export class ParallelQueue implements WorkQueue {
  run<T>(work: () => Promise<T>): Promise<T> {
    return Promise.resolve().then(work);
  }
}

/** What node-llama-cpp 3.21 keeps for its estimates. None of it is promised: what is not there is not let go of. */
interface Estimates {
  readonly _simulationSession?: { dispose?(): Promise<void> };
  readonly _addonMetadata?: { dispose?(): void };
}

/**
 * Lets go of what node-llama-cpp would keep beside a model for as long as the model is there. To estimate what a context
 * will take it loads the model once more, without its weights and with its vocabulary, which of a small model is the
 * larger part. Once this was called, its plain formula is used for that. To be called before a context is made.
 */
export async function freeEstimates({ fileInsights }: LlamaModel): Promise<void> {
  const { _simulationSession, _addonMetadata } = fileInsights as unknown as Estimates;
  await _simulationSession?.dispose?.();
  _addonMetadata?.dispose?.();
}

/**
 * Empties the lists of tokens that node-llama-cpp read out of the file beside llama.cpp's own. To be called once there is
 * a context.
 */
export function freeVocabularyCopy({ fileInfo }: LlamaModel): void {
  const lists: Partial<Record<string, unknown>> = fileInfo.metadata.tokenizer?.ggml ?? {};
  for (const name of ["tokens", "merges", "token_type", "scores"]) {
    const list = lists[name];
    if (Array.isArray(list)) list.length = 0;
  }
}
