import { join } from "node:path";
import type { Work } from "../../planning/listen/work.ts";
import { WeightsError } from "../../tensors/byte-source.ts";
import { readChecked } from "../../tensors/checked-file.ts";
import {
  bytesIn,
  floatsIn,
  readGraph,
  type StoredConstant,
  type StoredGraph,
  storedConstant,
} from "../../tensors/stored-graph.ts";

/**
 * What makes another person of the voice's networks: additions to their constants (training/voice/export.py). `NAME` is added
 * to a float32 constant of its shape; `NAME:u` [rows, rank] and `NAME:v` [rank, columns], int8, and `NAME:scale` [rank] stand
 * for the product u · diag(scale) · v, which is added to a constant of so many numbers (LoRA, Hu et al. 2021). A name that no
 * graph has does nothing.
 */
export type Adapter = StoredGraph["constants"];

/** Reads a person's adapter. @throws Error naming the file that is missing or damaged, WeightsError when it is none */
export async function readAdapter(voiceDir: string, person: string): Promise<Adapter> {
  return readGraph(await readChecked(join(voiceDir, "cast", `${person}.onnx`))).constants;
}

/**
 * The graph with what an adapter adds to its constants. An int8 matrix is rounded again, with a scale of its own. It does
 * some 160 million multiplications for a whole person, a few milliseconds at a time.
 *
 * @throws WeightsError when the adapter is made for other graphs
 */
export function* adapted(graph: StoredGraph, adapter: Adapter): Work<StoredGraph> {
  const constants = new Map(graph.constants);
  for (const [name, constant] of graph.constants) {
    const added = yield* additionTo(name, constant, adapter);
    if (added === null) continue;
    if (constant.type === "int8") {
      const scaleName = `${name.replace(/_quantized$/, "")}_scale`;
      const scale = graph.constants.get(scaleName);
      const [step] = scale === undefined ? [] : floatsIn(scale);
      if (step === undefined) throw new WeightsError(`The graph has no scale of ${name}.`);
      const steps = bytesIn(constant);
      for (let at = 0; at < added.length; at++) added[at]! += step * steps[at]!;
      const rounded = inSteps(added);
      constants.set(name, storedConstant("int8", constant.shape, rounded.steps));
      constants.set(scaleName, storedConstant("float32", [], Float32Array.of(rounded.step)));
    } else {
      const values = floatsIn(constant);
      for (let at = 0; at < added.length; at++) added[at]! += values[at]!;
      constants.set(name, storedConstant("float32", constant.shape, added));
    }
    yield;
  }
  return { ...graph, constants };
}

/** What is added to a constant, as many numbers as it has; `null` where nothing is. */
function* additionTo(
  name: string,
  { shape }: StoredConstant,
  adapter: Adapter,
): Work<Float32Array<ArrayBuffer> | null> {
  const count = shape.reduce((product, size) => product * size, 1);
  const unfit = () => new WeightsError(`The adapter does not fit ${name}.`);
  const whole = adapter.get(name);
  if (whole !== undefined) {
    const values = floatsIn(whole).slice();
    if (values.length !== count) throw unfit();
    return values;
  }
  const [u, v, scale] = ["u", "v", "scale"].map((factor) => adapter.get(`${name}:${factor}`));
  if (u === undefined && v === undefined && scale === undefined) return null;
  if (u === undefined || v === undefined || scale === undefined) throw unfit();
  const [rows = 0, rank = 0] = u.shape;
  const [, columns = 0] = v.shape;
  const scales = floatsIn(scale);
  if (rows * columns !== count || v.shape[0] !== rank || scales.length !== rank) throw unfit();
  const left = new Float32Array(bytesIn(u));
  // Zeros behind it make its rank a multiple of four.
  const right = new Float32Array((rank + 3) * columns);
  right.set(bytesIn(v));
  for (let at = 0; at < rank * columns; at++) right[at]! *= scales[Math.floor(at / columns)]!;
  const sum = new Float32Array(count);
  const rowsAtOnce = Math.ceil(PIECE / (rank * columns));
  for (let row = 0; row < rows; row++) {
    addRow(sum, row * columns, left.subarray(row * rank, (row + 1) * rank), right, columns);
    if (row % rowsAtOnce === 0) yield;
  }
  return sum;
}

/** Adds [rank] · [rank, columns] to the row that begins there, four at a time: less is read and rounded in between. */
function addRow(
  sum: Float32Array,
  at: number,
  factors: Float32Array,
  right: Float32Array,
  columns: number,
): void {
  const row = sum.subarray(at, at + columns);
  for (let k = 0; k < factors.length; k += 4) {
    const [a = 0, b = 0, c = 0, d = 0] = factors.subarray(k, k + 4);
    const from = k * columns;
    const [second, third, fourth] = [from + columns, from + 2 * columns, from + 3 * columns];
    for (let column = 0; column < columns; column++)
      row[column]! +=
        a * right[from + column]! +
        b * right[second + column]! +
        c * right[third + column]! +
        d * right[fourth + column]!;
  }
}

/** Multiplications between two yields: some 3 ms. */
const PIECE = 2e6;

/** Numbers in 8 bits with one step for all. */
function inSteps(values: Float32Array): { readonly steps: Int8Array; readonly step: number } {
  let most = 0;
  for (let at = 0; at < values.length; at++) most = Math.max(most, Math.abs(values[at]!));
  const step = most === 0 ? 1 : most / 127;
  const steps = new Int8Array(values.length);
  for (let at = 0; at < values.length; at++) steps[at] = Math.round(values[at]! / step);
  return { steps, step };
}
