import { setTimeout as sleep } from "node:timers/promises";
import type { Llama } from "node-llama-cpp";

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

/** The optional package that carries llama.cpp is not there, or does not run on this machine. */
export class LlamaMissingError extends Error {
  override readonly name = "LlamaMissingError";
}

/**
 * Loads llama.cpp's build for the CPU; everybody who holds it shares the one. The only file that imports the package.
 *
 * @throws LlamaMissingError when it is not installed or cannot be loaded.
 */
export async function openLlama(): Promise<LlamaRuntime> {
  holders++;
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
        await letGo();
      },
    };
  } catch (error) {
    await letGo();
    throw new LlamaMissingError(
      "llama.cpp cannot be loaded here: install it with `npm install node-llama-cpp@3.21.1`, or choose another writer.kind",
      { cause: error },
    );
  }
}

let shared: Promise<{ module: Module; llama: Llama }> | null = null;
let holders = 0;

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

async function letGo(): Promise<void> {
  holders--;
  if (holders > 0 || shared === null) return;
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
export const LOADING = { gpuLayers: 0, useMmap: false } as const;
