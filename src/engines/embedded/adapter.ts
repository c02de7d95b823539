import { join } from "node:path";
import { WeightsError } from "../../onnx/byte-source.ts";
import { type BoundSession, type NativeGuard, openBoundSession } from "../../onnx/session.ts";
import {
  bytesIn,
  floatsIn,
  node,
  readGraph,
  type StoredConstant,
  type StoredGraph,
  storedConstant,
  toGraphFile,
  type ValueInfo,
} from "../../onnx/stored-graph.ts";
import { float32, type Tensors } from "../../onnx/tensor.ts";
import { readVerifiedFile } from "../../onnx/verified-file.ts";

/**
 * What makes another person of the voice's networks: additions to their constants (training/voice/export.py). `NAME` is added
 * to a float32 constant of its shape; `NAME:u` [rows, rank] and `NAME:v` [rank, columns], int8, and `NAME:scale` [rank] stand
 * for the product u · diag(scale) · v, which is added to a constant of rows · columns numbers (LoRA, Hu et al. 2021).
 */
export type Adapter = StoredGraph["constants"];

/** Reads a person's adapter. @throws Error naming the file that is missing or damaged, WeightsError when it is none */
export async function readAdapter(voiceDir: string, person: string): Promise<Adapter> {
  return readGraph(await readVerifiedFile(join(voiceDir, "cast", `${person}.onnx`))).constants;
}

/** @throws WeightsError when the adapter adds nothing, or to something that none of the graphs has */
export function requireFits(adapter: Adapter, graphs: readonly StoredGraph[]): void {
  const known = new Set(graphs.flatMap(({ constants }) => [...constants.keys()]));
  const unknown = [...adapter.keys()].find((name) => !known.has(name.replace(/:(?:u|v|scale)$/, "")));
  if (unknown !== undefined)
    throw new WeightsError(`The adapter is for other graphs: they have no ${unknown}.`);
  if (adapter.size === 0) throw new WeightsError("The adapter is empty.");
}

/** Writes u · v into `sum`: matrices by these names. */
export type Multiply = (factors: Tensors, sum: Tensors) => Promise<void>;

/** Opens what multiplies an adapter's factors: the runtime does so some ten times as fast as a loop here would. */
export function openProduct(guard: NativeGuard | undefined): Promise<BoundSession> {
  const matrix = (rows: string, columns: string): ValueInfo => ({ type: "float32", shape: [rows, columns] });
  const file = toGraphFile(
    { nodes: [node("MatMul", ["u", "v"], ["sum"])], constants: new Map() },
    { u: matrix("rows", "rank"), v: matrix("rank", "columns") },
    { sum: matrix("rows", "columns") },
  );
  return openBoundSession(file, "The product of an adapter's factors", { guard });
}

/**
 * The graph with what an adapter adds to its constants. An int8 matrix is rounded again, with a scale of its own. For
 * a whole person of rank 32 that takes 195 million multiplications, at most 25 million in one run.
 *
 * @param multiply runs {@link openProduct}
 * @throws WeightsError when the adapter is made for other graphs, and what `multiply` throws
 */
export async function adapted(
  graph: StoredGraph,
  adapter: Adapter,
  multiply: Multiply,
): Promise<StoredGraph> {
  const constants = new Map(graph.constants);
  // What is rounded again is not kept: it all goes through the same memory.
  const matrices = [...graph.constants.values()].filter(({ type }) => type === "int8");
  const spare = new Float32Array(Math.max(0, ...matrices.map(countOf)));
  for (const [name, constant] of graph.constants) {
    const count = countOf(constant);
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

function countOf({ shape }: StoredConstant): number {
  return shape.reduce((product, size) => product * size, 1);
}

function notNumbers(name: string): WeightsError {
  return new WeightsError(`The adapter makes of ${name} what are no numbers.`);
}

/** Writes what is added to a constant; `null` where nothing is. */
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

/** Numbers in 8 bits with one step for all. */
function inSteps(values: Float32Array): { readonly steps: Int8Array; readonly step: number } {
  let most = 0;
  for (let at = 0; at < values.length; at++) most = Math.max(most, Math.abs(values[at]!));
  const step = most === 0 ? 1 : most / 127;
  const steps = new Int8Array(values.length);
  for (let at = 0; at < values.length; at++) steps[at] = Math.round(values[at]! / step);
  return { steps, step };
}
