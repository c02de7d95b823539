import { createHash } from "node:crypto";
import { join } from "node:path";
import { type MatrixRows, Quantiser, rowsOf, rowsOfPart } from "../../onnx/quantiser.ts";
import { type Bits, blockBytes, blocksIn } from "../../onnx/quantising-kernel.ts";
import { openWeights, type Weights } from "../../onnx/weights-folder.ts";
import { isIntact, type TensorGroup, type TensorPlan } from "../../onnx/write-safetensors.ts";
import { CheckpointError } from "./fields.ts";
import { makeCache, originOf, removeLeftovers } from "./quantised-cache.ts";

/** What a quantised matrix's numbers and scales are called, behind its own name. */
export const DATA = ".data";
export const SCALES = ".scales";

/** What is to be quantised of a model, and how finely. */
export interface Quantisation {
  /** Matrices [outs, ins]. */
  readonly matrices: readonly { readonly name: string; readonly bits: Bits }[];
  /** Stacks of matrices, [parts, ins, outs], which become `name.0`, `name.1` …. */
  readonly stacks: readonly { readonly name: string; readonly bits: Bits }[];
  /** What stays as it is, in float32. */
  readonly kept: readonly string[];
}

/** Written into what is made: another way of quantising has another number. */
const VERSION = 3;

/**
 * Opens a model's weights quantised, from a cache, in which they are made first if they are not there, were made of other
 * files or otherwise, or are not what was written. A folder that cannot be written to will do where they are in it.
 *
 * @param cacheFolder is made if it is not there
 * @throws CacheError when there is no room for them, or the folder cannot be written to; WeightsError or CheckpointError
 *   naming a tensor with a number that is infinite or none; the signal's reason
 */
export async function openQuantised(
  weights: Weights,
  quantisation: Quantisation,
  cacheFolder: string,
  signal: AbortSignal,
): Promise<Weights> {
  const origin = await originOf(weights, VERSION);
  const made = JSON.stringify({ origin, quantisation });
  const file = `${createHash("sha256").update(made).digest("hex").slice(0, 32)}.safetensors`;
  await removeLeftovers(cacheFolder);
  if (!(await isIntact(join(cacheFolder, file), signal))) {
    const makings = await makingsOf(weights, quantisation, signal);
    await makeCache(cacheFolder, file, origin, makings, signal);
  }
  return await openWeights(cacheFolder, file);
}

async function makingsOf(
  weights: Weights,
  { matrices, stacks, kept }: Quantisation,
  signal: AbortSignal,
): Promise<TensorGroup[]> {
  const quantiser = await Quantiser.create();
  const matrix = (name: string, rows: MatrixRows, bits: Bits): TensorGroup => ({
    tensors: quantisedTensors(name, rows, bits),
    make: () => quantiser.quantised(rows, bits, signal),
  });
  return [
    ...kept.map(
      (name): TensorGroup => ({
        tensors: [{ name, dtype: "F32", shape: weights.variable(name).shape }],
        make: () => finite(weights, name),
      }),
    ),
    ...matrices.map(({ name, bits }) => matrix(name, rowsOf(weights, name), bits)),
    ...stacks.flatMap(({ name, bits }) =>
      Array.from({ length: weights.variable(name).shape[0]! }, (_, at) =>
        matrix(`${name}.${at}`, rowsOfPart(weights, name, at), bits),
      ),
    ),
  ];
}

function quantisedTensors(name: string, { rows, columns }: MatrixRows, bits: Bits): TensorPlan[] {
  const blocks = blocksIn(columns);
  return [
    { name: name + DATA, dtype: "U8", shape: [rows, blocks, blockBytes(bits)] },
    { name: name + SCALES, dtype: "F32", shape: [rows * blocks] },
  ];
}

async function* finite(weights: Weights, name: string): AsyncGenerator<Uint8Array> {
  const numbers = await weights.read(name);
  if (!numbers.every(Number.isFinite)) {
    throw new CheckpointError(
      `${name} has numbers that are infinite or none: the file is damaged; fetch it again.`,
    );
  }
  yield new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
