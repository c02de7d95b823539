import { createRequire } from "node:module";
import type { InferenceSession, Tensor as NativeTensor } from "onnxruntime-common";
import { GraphFile } from "./graph-file.ts";
import { float32, floatsOf, int32, int64, type Tensor, type Tensors } from "./tensor.ts";

/** A loaded graph. The caller owns and releases it. */
export interface Session {
  /**
   * Runs the graph once on the calling thread, after a turn of the event loop: several utterances in one thread
   * alternate.
   */
  run(inputs: Tensors): Promise<Tensors>;
  /**
   * Prepares runs that read and write the same arrays each time. An array used as both input and output lets an
   * operator work in place.
   */
  bind(inputs: Tensors, outputs: Tensors): Binding;
  /** Frees the weights; idempotent. */
  release(): Promise<void>;
}

export type BoundSession = Pick<Session, "bind" | "release">;

export interface Binding {
  /** Runs the graph on the current inputs; resolves when the outputs are written. */
  run(): Promise<void>;
}

/**
 * Callbacks around native code: terminating a thread inside it aborts the process, because onnxruntime throws an
 * uncaught exception.
 */
export interface NativeGuard {
  enter(): void;
  leave(): void;
}

export interface SessionSetup {
  /** Needed if the calling thread may be terminated. */
  readonly guard?: NativeGuard | undefined;
  /** Threads per run. Default: 1, which keeps the order of sums. */
  readonly threads?: number;
  /** Folder of the graph's external data. */
  readonly dataFolder?: string;
  /** Whether weights are used in their stored layout instead of a copied, faster one. */
  readonly keepsWeightsInPlace?: boolean;
  /**
   * Whether 8-bit products are exact where the fast kernels saturate (see {@link saturatesIn8Bits}); takes 75 %
   * longer. Each product needs its own matrix and zero point.
   */
  readonly isExactIn8Bits?: boolean;
}

/**
 * Opens a graph from the bytes or the path of an ONNX file; a path avoids a copy. Bit-exact, and without a memory
 * arena: an idle session holds little more than its weights.
 *
 * @param name what errors call the graph: its file.
 * @throws Error when onnxruntime-node is missing or cannot load the graph
 */
export async function openSession(
  model: Uint8Array | string,
  name: string,
  setup: SessionSetup = {},
): Promise<Session> {
  const { guard = UNGUARDED } = setup;
  const options = optionsOf({
    ...setup,
    isExactIn8Bits: setup.isExactIn8Bits === true && (await saturatesIn8Bits(guard)),
  });
  const runtime = await guarded(loadRuntime, guard);
  let session: InferenceSession | null = await createSession(runtime, model, options, guard).catch(
    (cause: unknown) => {
      throw new Error(`${name} is not a graph that onnxruntime can load: install the file again.`, { cause });
    },
  );
  const stillOpen = (): InferenceSession => {
    if (session === null) throw new Error(`${name} was released and cannot run any more.`);
    return session;
  };
  const nativeAll = (tensors: Tensors) => {
    const all: Record<string, NativeTensor> = {};
    for (const key in tensors) all[key] = new runtime.Tensor(tensors[key]!.data, tensors[key]!.shape);
    return all;
  };

  return {
    async run(inputs) {
      const open = stillOpen();
      const feeds = nativeAll(inputs);
      const results = await guardedRun(() => open.run(feeds), guard);
      const outputs: Record<string, Tensor> = {};
      for (const key in results) outputs[key] = fromNative(results[key]!, `${name}: ${key}`);
      return outputs;
    },
    bind(inputs, outputs) {
      const feeds = nativeAll(inputs);
      const fetches: Record<string, NativeTensor | null> = nativeAll(outputs);
      if (session?.outputNames[0] === UNREADABLE_OUTPUT) fetches[UNREADABLE_OUTPUT] = null;
      return {
        async run() {
          await guardedRun(() => stillOpen().run(feeds, fetches), guard).catch(ignoreUnreadableOutput);
        },
      };
    },
    async release() {
      const open = session;
      session = null;
      if (open !== null) await guarded(() => open.release(), guard);
    },
  };
}

/**
 * Opens a graph for bound runs. onnxruntime-node copies outputs again after writing them into the given arrays, which
 * for the keys and values of a long sequence takes longer than the run. It stops at the first output it cannot
 * convert, so such an output is put first if that is known to work.
 */
export async function openBoundSession(
  graph: GraphFile,
  name: string,
  setup: SessionSetup = {},
): Promise<BoundSession> {
  if (await canSkipOutputCopies(setup.guard)) graph.prependEmptySequence(UNREADABLE_OUTPUT);
  return await openSession(Buffer.concat(graph.pieces()), name, setup);
}

const UNREADABLE_OUTPUT = "not handed over";

/** Ignores onnxruntime-node's complaint about the unreadable output; all outputs are written by then. */
function ignoreUnreadableOutput(error: unknown): void {
  if (!(error instanceof Error && error.message.includes("Non tensor type"))) throw error;
}

let skippedCopiesProbe: Promise<boolean> | undefined;

/** Returns whether an unreadable first output skips the copies and the others are still written. */
function canSkipOutputCopies(guard: NativeGuard | undefined): Promise<boolean> {
  skippedCopiesProbe ??= probeSkippedCopies(guard).catch(() => false);
  return skippedCopiesProbe;
}

async function probeSkippedCopies(guard: NativeGuard | undefined): Promise<boolean> {
  const graph = new GraphFile();
  graph.addNamed("y", "Add", [graph.input("x", "float32", [1]), graph.number(1)]);
  graph.output("y", [1]);
  graph.prependEmptySequence(UNREADABLE_OUTPUT);
  const session = await openSession(Buffer.concat(graph.pieces()), "A trial", { guard });
  try {
    const y = float32(new Float32Array(1), [1]);
    await session.bind({ x: float32(Float32Array.of(2), [1]) }, { y }).run();
    return y.data[0] === 3;
  } finally {
    await session.release();
  }
}

let saturationProbe: Promise<boolean> | undefined;

/**
 * Returns whether 8-bit products saturate: x64 with AVX2 but without VNNI adds two products in 16 bits. Probed once.
 */
export function saturatesIn8Bits(guard?: NativeGuard): Promise<boolean> {
  saturationProbe ??= probeSaturation(guard).catch((error: unknown) => {
    saturationProbe = undefined;
    throw error;
  });
  return saturationProbe;
}

async function probeSaturation(guard: NativeGuard | undefined): Promise<boolean> {
  const [terms, largest] = [64, 127];
  const graph = new GraphFile();
  const x = graph.input("x", "float32", [1, terms]);
  const [rounded = "", , origin = ""] = graph.addMany("DynamicQuantizeLinear", [x], 3);
  const matrix = graph.constant(new Int8Array(terms).fill(largest), [terms, 1]);
  const zero = graph.constant(new Int8Array(1), []);
  graph.addMany("Cast", [graph.add("MatMulInteger", [rounded, matrix, origin, zero])], ["y"], { to: 1 });
  graph.output("y", [1, 1]);
  const session = await openSession(Buffer.concat(graph.pieces()), "A trial", { guard });
  try {
    const ones = float32(new Float32Array(terms).fill(1), [1, terms]);
    return floatsOf(await session.run({ x: ones }), "y")[0] !== 255 * largest * terms;
  } finally {
    await session.release();
  }
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
  const { threads = 1, dataFolder, keepsWeightsInPlace = false, isExactIn8Bits = false } = setup;
  const session = {
    ...(isExactIn8Bits ? { x64quantprecision: "1" } : {}),
    // Spinning threads would take the processor from other sessions.
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
 * Guards a run. onnxruntime starts it in the next turn of the event loop, so the guard is entered just before, and
 * other work until then does not count as native.
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

type Runtime = typeof import("onnxruntime-common");

/**
 * Parses a graph. A closure in `openSession` would keep the bytes alive as long as the session, which has its own
 * copy.
 */
function createSession(
  { InferenceSession }: Runtime,
  model: Uint8Array | string,
  options: InferenceSession.SessionOptions,
  guard: NativeGuard,
): Promise<InferenceSession> {
  const create = () =>
    typeof model === "string"
      ? InferenceSession.create(model, options)
      : InferenceSession.create(model, options);
  return guarded(create, guard);
}

/** Resolves packages in the folder of scripts/onnxruntime.mjs first, which only a checkout has, then in `node_modules`. */
const require = createRequire(new URL("../../../node_modules/.antiphon/", import.meta.url));

async function loadRuntime(): Promise<Runtime> {
  try {
    return require("onnxruntime-node");
  } catch (cause) {
    throw new Error(
      "The voice needs onnxruntime-node, which did not load: install Antiphon again, in a checkout with `npm ci`.",
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
