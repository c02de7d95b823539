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

/** A reference to the shared llama.cpp. */
export interface LlamaRuntime {
  readonly llama: Llama;
  readonly module: Module;
  /** Frees llama.cpp with the last reference. */
  release(): Promise<void>;
}

/**
 * Loads llama.cpp's CPU build once and shares it. Only this file imports the package.
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
    // Logs nothing, since errors are thrown to the caller.
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
  // After a failed load, disposal sometimes never ends.
  const ended = new AbortController();
  const late = sleep(MAX_DISPOSAL_MS, undefined, { signal: ended.signal }).catch(() => {});
  await Promise.race([llama?.dispose(), late]).finally(() => ended.abort());
}

const MAX_DISPOSAL_MS = 3_000;

/**
 * Load options of every model. Not mapped: where llama.cpp repacks weights (AMX, some formats), the mapping would
 * stay in memory as well.
 */
export const LOAD_OPTIONS = { gpuLayers: 0, useMmap: false } as const;

export interface WorkQueue {
  /** Runs `work` in its turn, even if earlier work failed. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Runs work one at a time, in order. */
export class SerialQueue implements WorkQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => {});
    return mine;
  }
}

/** Runs everything at once: llama.cpp batches concurrent work. */
export class ParallelQueue implements WorkQueue {
  run<T>(work: () => Promise<T>): Promise<T> {
    return Promise.resolve().then(work);
  }
}

/** Private members of node-llama-cpp 3.21, which may be missing. */
interface Estimates {
  readonly _simulationSession?: { dispose?(): Promise<void> };
  readonly _addonMetadata?: { dispose?(): void };
}

/**
 * Frees what node-llama-cpp keeps for its context estimates: a second load of the model without weights but with its
 * vocabulary, most of a small model. Afterwards its plain formula is used. Call before creating a context.
 */
export async function freeEstimates({ fileInsights }: LlamaModel): Promise<void> {
  const { _simulationSession, _addonMetadata } = fileInsights as unknown as Estimates;
  await _simulationSession?.dispose?.();
  _addonMetadata?.dispose?.();
}

/** Frees node-llama-cpp's copy of the vocabulary. Call after creating a context. */
export function freeVocabularyCopy({ fileInfo }: LlamaModel): void {
  const lists: Partial<Record<string, unknown>> = fileInfo.metadata.tokenizer?.ggml ?? {};
  for (const name of ["tokens", "merges", "token_type", "scores"]) {
    const list = lists[name];
    if (Array.isArray(list)) list.length = 0;
  }
}
