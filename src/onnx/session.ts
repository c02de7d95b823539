import type { InferenceSession, Tensor as NativeTensor } from "onnxruntime-common";
import { GraphFile } from "./graph-file.ts";
import { float32, floatsOf, int32, int64, type Tensor, type Tensors } from "./tensor.ts";

/** A graph in memory, ready to run. The caller owns it and releases it. */
export interface Session {
  /**
   * Runs the graph once. It occupies the calling thread while it computes, but gives the event loop a turn first, so
   * several utterances in one thread take turns.
   */
  run(inputs: Tensors): Promise<Tensors>;
  /**
   * Readies runs that take the same arrays each time, with other numbers in them, and write into the same arrays. An array
   * that is both lets an operation that can go on in place do so.
   */
  bind(inputs: Tensors, outputs: Tensors): Binding;
  /** Frees the weights. Calling it twice is harmless. */
  release(): Promise<void>;
}

/** A session that has bound runs alone. */
export type BoundSession = Pick<Session, "bind" | "release">;

/** A run that is ready. */
export interface Binding {
  /** Runs the graph on what the inputs hold now. When it resolves, the outputs are written. */
  run(): Promise<void>;
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
  /**
   * Products of 8-bit numbers are exact where the fast ones saturate (see {@link saturatesIn8Bits}), by others that take
   * three quarters more time. Each of them needs a matrix and a zero point of its own for that.
   */
  readonly isExactIn8Bits?: boolean;
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
 * Opens a graph for runs that are bound. onnxruntime-node copies what a run has written into given arrays once more, to hand
 * it over; with the keys and values of a long sequence that takes longer than the run. It does so output after output, and
 * gives up at one that it cannot hand over: so such an output comes first, where that is known to help.
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

/** What onnxruntime-node says, when the graph has run and everything is written. */
function ignoreUnreadableOutput(error: unknown): void {
  if (!(error instanceof Error && error.message.includes("Non tensor type"))) throw error;
}

let skippedCopiesProbe: Promise<boolean> | undefined;

/** Whether an output that cannot be handed over spares the others' copies, and whether they are written all the same. */
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
 * Whether sums of products of 8-bit numbers come out wrong here: on x64 with AVX2 and without VNNI two products are added
 * in 16 bits, which the largest do not fit in. Tried once.
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

type Runtime = typeof import("onnxruntime-node");

/**
 * Parses a graph. A closure inside `openSession` that refers to the bytes would keep them for as long as the session, which
 * has copies of its own.
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

async function loadRuntime(): Promise<Runtime> {
  try {
    return await import("onnxruntime-node");
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
