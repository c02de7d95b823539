import { type AvailableMemory, availableMemory } from "../../core/available-memory.ts";
import { BLOCK, blocksIn } from "../../onnx/quantising-kernel.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Precision } from "./codec-language-model.ts";
import { CheckpointError } from "./fields.ts";
import type { TransformerSizes } from "./networks/transformer.ts";

/** How a checkpoint is going to be run. */
export interface MemoryPlan {
  readonly precision: Precision;
  /** Utterances that are computed together. */
  readonly slots: number;
  /** That the talker keeps for each of them; what the architecture takes unless it is said. */
  readonly positions?: number;
  /** What is kept between utterances: as a server does, unless it is said. */
  readonly cacheBytes?: number;
}

const MIB = 2 ** 20;

/** Prefixes of conversations, and codes of clips. */
export const CACHES_BYTES = (256 + 32) * MIB;

/** A thread, onnxruntime, what a graph needs while it runs, and what is there twice while it is opened. */
const OVERHEAD_BYTES = 512 * MIB;

/** Of a number in float32. */
const FLOAT_BYTES = 4;

/**
 * What a checkpoint takes in memory once it is loaded and all its slots are taken: an upper bound in bytes, by the shapes
 * that its configuration states; nothing of its weights is read. Weights that are used where they lie in their file count
 * too: the system may drop them, but has to read them again for each frame.
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

/** Keys and values of a position, in every layer. */
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
    bytes += each === undefined ? product(shape) * FLOAT_BYTES : quantisedTensorBytes(shape, each);
  }
  return bytes;
}

/**
 * Blocks of so many bits a number, and a scale for each. onnxruntime lays both out anew, and keeps the scales a second time,
 * as they lie in their file. A stack [parts, ins, outs] is turned over before.
 */
function quantisedTensorBytes(shape: readonly number[], bits: number): number {
  const ins = shape.length === 3 ? shape[1]! : shape.at(-1)!;
  const rows = product(shape) / ins;
  return rows * blocksIn(ins) * ((BLOCK * bits) / 8 + 2 * FLOAT_BYTES);
}

function product(shape: readonly number[]): number {
  return shape.reduce((all, each) => all * each, 1);
}

/** Memory that does not suffice for a checkpoint. The message has both figures and the remedy. */
export class MemoryError extends CheckpointError {}

/**
 * Refuses a checkpoint that this machine has no memory for, before anything of it is loaded.
 *
 * @param name what errors call it
 * @param available what there is; looked up unless it is given
 * @returns what it takes, in bytes
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

/** A line for people: what a checkpoint takes in each precision, with one slot. */
export function describeMemory(checkpoint: Checkpoint): string {
  const gigabytes = (precision: Precision): string =>
    `${precision}: about ${(estimateMemory(checkpoint, { precision, slots: 1 }) / 1e9).toFixed(1)} GB`;
  const more = checkpoint.defaultPositions * bytesPerPosition(checkpoint.backbone);
  return (
    `memory for one utterance at a time: ${gigabytes("int4")}; ${gigabytes("int8")}; ${gigabytes("fp32")}; ` +
    `for each more at once about ${(more / 1e9).toFixed(2)} GB`
  );
}
