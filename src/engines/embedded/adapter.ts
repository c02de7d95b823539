import { join } from "node:path";
import type { RunQueued } from "../../core/run-queued.ts";
import { SpeechFailedError } from "../../core/speech-model.ts";
import { WeightsError } from "../../onnx/byte-source.ts";
import { type BoundSession, type NativeGuard, openBoundSession } from "../../onnx/session.ts";
import {
  bytesIn,
  floatsIn,
  node,
  readGraph,
  type StoredGraph,
  storedConstant,
  toGraphFile,
  type ValueInfo,
} from "../../onnx/stored-graph.ts";
import { elementCount, float32, type Tensors } from "../../onnx/tensor.ts";
import { readVerifiedFile } from "../../onnx/verified-file.ts";
import { type EmbeddedNetwork, type EmbeddedPrecision, type OwnedNetwork, openNetwork } from "./network.ts";

/**
 * Additions to the constants of the voice's networks that make them another person's (training/voice/export.py).
 * `NAME` is added to a float32 constant of its shape. `NAME:u` [rows, rank] and `NAME:v` [rank, columns], int8, with
 * `NAME:scale` [rank] stand for u · diag(scale) · v, which is added to a constant of rows · columns numbers (LoRA, Hu
 * et al. 2021).
 */
export type Adapter = StoredGraph["constants"];

/** @throws Error naming the file that is missing or damaged, WeightsError if it is not an adapter */
export async function readAdapter(voiceDir: string, person: string): Promise<Adapter> {
  return readGraph(await readVerifiedFile(join(voiceDir, "cast", `${person}.onnx`))).constants;
}

/** @throws WeightsError if the adapter is empty, or names a constant that none of the graphs has */
export function requireAdapterFits(adapter: Adapter, graphs: readonly StoredGraph[]): void {
  const known = new Set(graphs.flatMap(({ constants }) => [...constants.keys()]));
  const unknown = [...adapter.keys()].find((name) => !known.has(name.replace(/:(?:u|v|scale)$/, "")));
  if (unknown !== undefined)
    throw new WeightsError(`The adapter is for other graphs: they have no ${unknown}.`);
  if (adapter.size === 0) throw new WeightsError("The adapter is empty.");
}

export type Multiply = (factors: Tensors, sum: Tensors) => Promise<void>;

/** Opens a graph that multiplies an adapter's factors, some ten times as fast as a loop in JavaScript. */
export function openFactorProduct(guard: NativeGuard | undefined): Promise<BoundSession> {
  const matrix = (rows: string, columns: string): ValueInfo => ({ type: "float32", shape: [rows, columns] });
  const file = toGraphFile(
    { nodes: [node("MatMul", ["u", "v"], ["sum"])], constants: new Map() },
    { u: matrix("rows", "rank"), v: matrix("rank", "columns") },
    { sum: matrix("rows", "columns") },
  );
  return openBoundSession(file, "The product of an adapter's factors", { guard });
}

/**
 * Returns the graph with the adapter added to its constants. An int8 matrix is rounded again, with a new scale. A
 * person of rank 32 takes 195 million multiplications, at most 25 million in one run.
 *
 * @param multiply runs {@link openFactorProduct}
 * @throws WeightsError if the adapter is for other graphs, and what `multiply` throws
 */
export async function applyAdapter(
  graph: StoredGraph,
  adapter: Adapter,
  multiply: Multiply,
): Promise<StoredGraph> {
  const constants = new Map(graph.constants);
  const matrices = [...graph.constants.values()].filter(({ type }) => type === "int8");
  const spare = new Float32Array(Math.max(0, ...matrices.map(({ shape }) => elementCount(shape))));
  for (const [name, constant] of graph.constants) {
    const count = elementCount(constant.shape);
    const into = constant.type === "int8" ? spare.subarray(0, count) : new Float32Array(count);
    const added = await additionTo(name, into, adapter, multiply);
    if (added === null) continue;
    if (constant.type === "int8") {
      const scaleName = `${name.replace(/_quantized$/, "")}_scale`;
      const scale = graph.constants.get(scaleName);
      const [step] = scale === undefined ? [] : floatsIn(scale);
      if (step === undefined) throw new WeightsError(`The graph has no scale of ${name}.`);
      const steps = bytesIn(constant);
      for (let at = 0; at < added.length; at++) added[at]! += step * steps[at]!;
      const rounded = inSteps(added);
      if (!Number.isFinite(rounded.step)) throw notNumbers(name);
      constants.set(name, storedConstant("int8", constant.shape, rounded.steps));
      constants.set(scaleName, storedConstant("float32", [], Float32Array.of(rounded.step)));
    } else {
      const values = floatsIn(constant);
      for (let at = 0; at < added.length; at++) added[at]! += values[at]!;
      if (!added.every(Number.isFinite)) throw notNumbers(name);
      constants.set(name, storedConstant("float32", constant.shape, added));
    }
  }
  return { ...graph, constants };
}

function notNumbers(name: string): WeightsError {
  return new WeightsError(`Applying the adapter to ${name} produced non-finite values.`);
}

async function additionTo(
  name: string,
  into: Float32Array<ArrayBuffer>,
  adapter: Adapter,
  multiply: Multiply,
): Promise<Float32Array<ArrayBuffer> | null> {
  const unfit = () => new WeightsError(`The adapter does not fit ${name}.`);
  const whole = adapter.get(name);
  if (whole !== undefined) {
    const values = floatsIn(whole);
    if (values.length !== into.length) throw unfit();
    into.set(values);
    return into;
  }
  const [u, v, scale] = ["u", "v", "scale"].map((factor) => adapter.get(`${name}:${factor}`));
  if (u === undefined && v === undefined && scale === undefined) return null;
  if (u === undefined || v === undefined || scale === undefined) throw unfit();
  const [rows = 0, rank = 0] = u.shape;
  const [, columns = 0] = v.shape;
  const scales = floatsIn(scale);
  if (rows * columns !== into.length || v.shape[0] !== rank || scales.length !== rank) throw unfit();
  const right = new Float32Array(bytesIn(v));
  for (let at = 0; at < right.length; at++) right[at]! *= scales[Math.floor(at / columns)]!;
  const left = new Float32Array(bytesIn(u));
  await multiply(
    { u: float32(left, [rows, rank]), v: float32(right, [rank, columns]) },
    { sum: float32(into, [rows, columns]) },
  );
  return into;
}

function inSteps(values: Float32Array): { readonly steps: Int8Array; readonly step: number } {
  let most = 0;
  for (let at = 0; at < values.length; at++) most = Math.max(most, Math.abs(values[at]!));
  const step = most === 0 ? 1 : most / 127;
  const steps = new Int8Array(values.length);
  for (let at = 0; at < values.length; at++) steps[at] = Math.round(values[at]! / step);
  return { steps, step };
}

export interface AdaptedNetworksOptions {
  readonly voiceDir: string;
  readonly precision: EmbeddedPrecision | undefined;
  readonly guard: NativeGuard | undefined;
  readonly inTurn: RunQueued;
}

/**
 * Networks of adapted people (15 MB each), opened at first use one at a time, so that only one competes for the
 * thread.
 */
export class AdaptedNetworks {
  readonly #parts: AdaptedNetworksOptions;
  readonly #opened = new Map<string, Promise<OwnedNetwork>>();
  #last: Promise<unknown> = Promise.resolve();
  #product: BoundSession | null = null;

  constructor(parts: AdaptedNetworksOptions) {
    this.#parts = parts;
  }

  /** @throws SpeechFailedError if it cannot be opened; the next call tries again */
  async network(person: string): Promise<EmbeddedNetwork> {
    const known = this.#opened.get(person);
    if (known !== undefined) return known;
    const opening = this.#last.then(() => this.#open(person));
    this.#last = opening.catch(() => this.#opened.delete(person));
    this.#opened.set(person, opening);
    return opening;
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#opened.values());
    await Promise.all(opened.map((each) => (each.status === "fulfilled" ? each.value.close() : undefined)));
    await this.#product?.release();
  }

  async #open(person: string): Promise<OwnedNetwork> {
    const { voiceDir, precision, guard, inTurn } = this.#parts;
    try {
      const adapter = await readAdapter(voiceDir, person);
      this.#product ??= await openFactorProduct(guard);
      const product = this.#product;
      const multiply: Multiply = (factors, sum) => inTurn(() => product.bind(factors, sum).run());
      const graphs: StoredGraph[] = [];
      const network = await openNetwork(voiceDir, precision, guard, (graph) => {
        graphs.push(graph);
        return applyAdapter(graph, adapter, multiply);
      });
      try {
        requireAdapterFits(adapter, graphs);
      } catch (unfit) {
        await network.close();
        throw unfit;
      }
      return network;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new SpeechFailedError(`The voice could not be opened as ${person}. ${reason}`, { cause });
    }
  }
}
