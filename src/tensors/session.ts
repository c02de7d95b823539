import type { InferenceSession } from "onnxruntime-node";
import { float32, int64, type Tensor, type Tensors } from "./tensor.ts";

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
 * Opens a graph from the bytes of an ONNX file. One thread, so that the sums are added in one order and the same
 * input gives the same bytes; no arena, so that an idle session keeps its weights and little else.
 * @param name what errors call the graph: its file.
 * @throws Error when onnxruntime-node is missing, or the bytes are no graph that it can load.
 */
export async function openSession(model: Uint8Array, name: string): Promise<Session> {
  const runtime = await loadRuntime();
  let session: InferenceSession | null = await runtime.InferenceSession.create(model, OPTIONS).catch(
    (cause: unknown) => {
      throw new Error(`${name} is not a graph that onnxruntime can load: install the file again.`, { cause });
    },
  );
  const toNative = ({ data, shape }: Tensor) => new runtime.Tensor(data, shape);

  return {
    async run(inputs) {
      if (session === null) throw new Error(`${name} was released and cannot run any more.`);
      const feeds: Record<string, InstanceType<typeof runtime.Tensor>> = {};
      for (const key in inputs) feeds[key] = toNative(inputs[key]!);
      const results = await session.run(feeds);
      const outputs: Record<string, Tensor> = {};
      for (const key in results) outputs[key] = fromNative(results[key]!, `${name}: ${key}`);
      return outputs;
    },
    async release() {
      const open = session;
      session = null;
      await open?.release();
    },
  };
}

const OPTIONS: InferenceSession.SessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: "sequential",
  graphOptimizationLevel: "all",
  enableCpuMemArena: false,
  enableMemPattern: false,
  logSeverityLevel: 3,
};

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
  if (value.data instanceof BigInt64Array) return int64(value.data, value.dims);
  throw new Error(`${where} is neither float32 nor int64, which is all that is read here.`);
}
