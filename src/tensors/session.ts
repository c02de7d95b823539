import type { InferenceSession } from "onnxruntime-node";
import { float32, int32, int64, type Tensor, type Tensors } from "./tensor.ts";

/** A graph in memory, ready to run. The caller owns it and releases it. */
export interface Session {
  /**
   * Runs the graph once. It occupies the calling thread while it computes, but gives the event loop a turn first, so
   * several utterances in one thread take turns.
   */
  run(inputs: Tensors): Promise<Tensors>;
  /** Frees the weights. Calling it twice is harmless. */
  release(): Promise<void>;
}

/**
 * Told around each stay in native code: a thread that is ended from outside in the middle of one takes the process
 * along, because onnxruntime throws there what nobody catches.
 */
export interface NativeGuard {
  enter(): void;
  leave(): void;
}

/** What a session may be asked for. */
export interface SessionSetup {
  /** Needed where somebody may end the calling thread. */
  readonly guard?: NativeGuard | undefined;
  /** That compute one run together, 1 if nothing is said: then sums are added in one order. */
  readonly threads?: number;
  /** Where the data is that the graph refers to. */
  readonly dataFolder?: string;
  /** Weights are used as they lie in their file, and not copied into an order that is faster to compute with. */
  readonly keepsWeightsInPlace?: boolean;
}

/**
 * Opens a graph from the bytes of an ONNX file, or from its path, which spares a copy of them. The same input gives the
 * same bytes; no arena, so that an idle session keeps its weights and little else.
 * @param name what errors call the graph: its file.
 * @throws Error when onnxruntime-node is missing, or the bytes are no graph that it can load.
 */
export async function openSession(
  model: Uint8Array | string,
  name: string,
  setup: SessionSetup = {},
): Promise<Session> {
  const { guard = UNGUARDED } = setup;
  const options = optionsOf(setup);
  const runtime = await guarded(loadRuntime, guard);
  const create = () =>
    typeof model === "string"
      ? runtime.InferenceSession.create(model, options)
      : runtime.InferenceSession.create(model, options);
  let session: InferenceSession | null = await guarded(create, guard).catch((cause: unknown) => {
    throw new Error(`${name} is not a graph that onnxruntime can load: install the file again.`, { cause });
  });
  const toNative = ({ data, shape }: Tensor) => new runtime.Tensor(data, shape);

  return {
    async run(inputs) {
      const open = session;
      if (open === null) throw new Error(`${name} was released and cannot run any more.`);
      const feeds: Record<string, InstanceType<typeof runtime.Tensor>> = {};
      for (const key in inputs) feeds[key] = toNative(inputs[key]!);
      const results = await guardedRun(() => open.run(feeds), guard);
      const outputs: Record<string, Tensor> = {};
      for (const key in results) outputs[key] = fromNative(results[key]!, `${name}: ${key}`);
      return outputs;
    },
    async release() {
      const open = session;
      session = null;
      if (open !== null) await guarded(() => open.release(), guard);
    },
  };
}

const OPTIONS: InferenceSession.SessionOptions = {
  interOpNumThreads: 1,
  executionMode: "sequential",
  graphOptimizationLevel: "all",
  enableCpuMemArena: false,
  enableMemPattern: false,
  logSeverityLevel: 3,
};

function optionsOf(setup: SessionSetup): InferenceSession.SessionOptions {
  const { threads = 1, dataFolder, keepsWeightsInPlace = false } = setup;
  const session = {
    // Threads of one session that wait for work busily would take the processor from another's.
    ...(threads > 1 ? { force_spinning_stop: "1" } : {}),
    ...(dataFolder === undefined ? {} : { model_external_initializers_file_folder_path: dataFolder }),
    ...(keepsWeightsInPlace ? { disable_prepacking: "1" } : {}),
  };
  return { ...OPTIONS, intraOpNumThreads: threads, extra: { session } };
}

const UNGUARDED: NativeGuard = { enter() {}, leave() {} };

async function guarded<T>(work: () => Promise<T>, guard: NativeGuard): Promise<T> {
  guard.enter();
  try {
    return await work();
  } finally {
    guard.leave();
  }
}

/**
 * The same for a run, which onnxruntime begins in the event loop's next turn: the guard is entered just ahead of it
 * there, so that what the thread does until then does not pass for native code.
 */
async function guardedRun<T>(run: () => Promise<T>, guard: NativeGuard): Promise<T> {
  let isInside = false;
  const ahead = setImmediate(() => {
    isInside = true;
    guard.enter();
  });
  try {
    return await run();
  } finally {
    clearImmediate(ahead);
    if (isInside) guard.leave();
  }
}

async function loadRuntime(): Promise<typeof import("onnxruntime-node")> {
  try {
    return await import("onnxruntime-node");
  } catch (cause) {
    throw new Error(
      "The voice needs onnxruntime-node, which did not load: run `npm install onnxruntime-node`.",
      {
        cause,
      },
    );
  }
}

function fromNative(value: { data: unknown; dims: readonly number[] }, where: string): Tensor {
  if (value.data instanceof Float32Array) return float32(value.data, value.dims);
  if (value.data instanceof Int32Array) return int32(value.data, value.dims);
  if (value.data instanceof BigInt64Array) return int64(value.data, value.dims);
  throw new Error(`${where} is neither float32, int32 nor int64, which is all that is read here.`);
}
