import { type AvailableMemory, availableMemory } from "../../core/available-memory.ts";
import { BLOCK, blocksIn } from "../../onnx/quantising-kernel.ts";
import { elementCount } from "../../onnx/tensor.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Precision } from "./codec-language-model.ts";
import { CheckpointError } from "./fields.ts";
import type { TransformerSizes } from "./networks/transformer.ts";

export interface MemoryPlan {
  readonly precision: Precision;
  readonly slots: number;
  /** Positions kept per utterance. Default: the checkpoint's. */
  readonly positions?: number;
  /** Bytes kept between utterances. Default: as a server keeps. */
  readonly cacheBytes?: number;
}

const MIB = 2 ** 20;

/** Caches of prompt prefixes and of codes of clips. */
export const CACHES_BYTES = (256 + 32) * MIB;

/** A thread, onnxruntime, scratch memory of graphs, and what exists twice while it is opened. */
const OVERHEAD_BYTES = 512 * MIB;

const FLOAT_BYTES = 4;

/**
 * Returns an upper bound of the bytes that a loaded checkpoint takes with all slots in use, computed from the shapes
 * in its configuration. It includes weights used in place in their file: the system may drop them, but would reread
 * them for each frame.
 */
export function estimateMemory(checkpoint: Checkpoint, plan: MemoryPlan): number {
  const { slots, positions = checkpoint.defaultPositions, cacheBytes = CACHES_BYTES } = plan;
  const { backbone, depthDecoder } = checkpoint;
  const backboneBytes = Math.min(positions, backbone.positions) * bytesPerPosition(backbone);
  const perSlot = backboneBytes + depthDecoder.positions * bytesPerPosition(depthDecoder);
  return Math.ceil(
    residentWeightBytes(checkpoint, plan.precision) + slots * perSlot + cacheBytes + OVERHEAD_BYTES,
  );
}

/** Returns the bytes of keys and values per position over all layers. */
function bytesPerPosition({ layers, keyHeads, headWidth }: TransformerSizes): number {
  return layers * 2 * keyHeads * headWidth * FLOAT_BYTES;
}

function residentWeightBytes(
  { weights, quantisation, embeddingTables }: Checkpoint,
  precision: Precision,
): number {
  const bits = new Map<string, number>();
  if (precision !== "fp32") {
    const { matrices, stacks } = quantisation(precision);
    for (const { name, bits: each } of [...matrices, ...stacks]) bits.set(name, each);
  }
  const byRow = new Set(embeddingTables);
  let bytes = 0;
  for (const [name, shape] of weights.flatMap(({ manifest }) => [...manifest.shapes])) {
    if (byRow.has(name)) continue;
    const each = bits.get(name);
    bytes += each === undefined ? elementCount(shape) * FLOAT_BYTES : quantisedTensorBytes(shape, each);
  }
  return bytes;
}

/**
 * Blocks of numbers and a scale for each. onnxruntime repacks both, and keeps the scales a second time as in the
 * file. A stack [layers, ins, outs] is transposed first.
 */
function quantisedTensorBytes(shape: readonly number[], bits: number): number {
  const ins = shape.length === 3 ? shape[1]! : shape.at(-1)!;
  const rows = elementCount(shape) / ins;
  return rows * blocksIn(ins) * ((BLOCK * bits) / 8 + 2 * FLOAT_BYTES);
}

/** Too little memory for a checkpoint. The message has both figures and the remedy. */
export class MemoryError extends CheckpointError {}

/**
 * Rejects a checkpoint that does not fit into memory, before loading anything.
 *
 * @param name for errors
 * @returns the bytes that it takes
 * @throws MemoryError
 */
export async function requireCheckpointMemory(
  checkpoint: Checkpoint,
  plan: MemoryPlan,
  name: string,
  available?: AvailableMemory,
): Promise<number> {
  const needed = estimateMemory(checkpoint, plan);
  const { bytes, limitedBy } = available ?? (await availableMemory());
  if (needed <= bytes) return needed;
  const utterances = `${plan.slots} concurrent ${plan.slots === 1 ? "utterance" : "utterances"}`;
  const remedies = [
    ...(plan.slots > 1 ? ["lower maxConcurrent"] : []),
    ...(plan.precision === "int4" ? [] : [plan.precision === "int8" ? "use int4" : "use int8 or int4"]),
    "stop other programs",
    limitedBy === "container" ? "give the container more" : "use a machine with more",
  ];
  const advice =
    remedies.length === 1 ? remedies[0]! : `${remedies.slice(0, -1).join(", ")}, or ${remedies.at(-1)}`;
  throw new MemoryError(
    `${name} in ${plan.precision} with ${utterances} takes ${mebibytes(needed)} of memory, and ${mebibytes(bytes)} are ` +
      `available: ${advice}.`,
  );
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`;
}

/** Returns a line for people: the memory in each precision with one slot. */
export function describeMemory(checkpoint: Checkpoint): string {
  const gigabytes = (precision: Precision): string =>
    `${precision}: about ${(estimateMemory(checkpoint, { precision, slots: 1 }) / 1e9).toFixed(1)} GB`;
  const more = checkpoint.defaultPositions * bytesPerPosition(checkpoint.backbone);
  return (
    `memory for one utterance at a time: ${gigabytes("int4")}; ${gigabytes("int8")}; ${gigabytes("fp32")}; ` +
    `for each more at once about ${(more / 1e9).toFixed(2)} GB`
  );
}
