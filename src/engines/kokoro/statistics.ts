import { randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { FRAMES_PER_STEP } from "../../planning/frames.ts";
import { planContour, planTiming } from "../../planning/plan.ts";
import { isSound, metadataOf } from "../../tensors/sealed-file.ts";
import type { NativeGuard } from "../../tensors/session.ts";
import { floatsOf } from "../../tensors/tensor.ts";
import { openWeights } from "../../tensors/weights-folder.ts";
import { writeSafetensors } from "../../tensors/write-safetensors.ts";
import { pieceOf } from "./decoder-pieces.ts";
import type { MadeFiles } from "./made-files.ts";
import { type KokoroNetwork, openGraph, pieceTensors } from "./network.ts";
import { planningWith } from "./planning-network.ts";
import type { StyleTable } from "./voices.ts";

/** Goes up with every change of how they are made. */
const FORMAT = 1;
const FOLDER = "statistics";
const TENSOR = "statistics";

/** What is spoken to learn a voice's statistics: an ordinary sentence, a question, and one with much hissing. */
export const CALIBRATION: readonly string[] = [
  "The early train was late again, so we walked along the river and talked about the weather.",
  "Would you like some more of this, or shall I put it away?",
  "She says the sixth ship has sails of silk, and nobody here believes a word of it!",
];

/** What a voice's statistics are made with. */
export interface Calibration {
  /** Of the checkpoint: they are kept there. */
  readonly folder: string;
  readonly made: MadeFiles;
  readonly network: Pick<KokoroNetwork, "read" | "intone" | "source">;
  /** Phoneme ids of sentences, with the silent id 0 at both ends. */
  sentences(): Promise<readonly (readonly number[])[]>;
  readonly guard?: NativeGuard | undefined;
}

/** A voice's statistics, as they were made before; `null` where they were not, or the file is damaged. */
export async function readStatistics(
  folder: string,
  { id }: Pick<StyleTable, "id">,
  count: number,
  signal: AbortSignal,
): Promise<Float32Array | null> {
  const path = pathOf(folder, id);
  if ((await metadataOf(path))?.format !== String(FORMAT) || !(await isSound(path, signal))) return null;
  const file = await openWeights(join(folder, FOLDER), `${id}.safetensors`);
  try {
    const statistics = await file.read(TENSOR);
    return statistics.length === count ? statistics : null;
  } finally {
    await file.close();
  }
}

/**
 * Speaks some sentences with a voice, and keeps the mean of what the decoder's norms then measured: some seconds of
 * processor time, once. Where it cannot be kept, it is made again the next time.
 */
export async function makeStatistics(
  { folder, made, network, sentences, guard }: Calibration,
  table: StyleTable,
  signal: AbortSignal,
): Promise<Float32Array> {
  const decoder = await openGraph(made, "reporting", guard);
  try {
    const sums = new Float64Array(made.facts.statistics);
    const spoken = await sentences();
    for (const ids of spoken) {
      signal.throwIfAborted();
      const { planning, style } = planningWith(network, [{ weight: 1, table }]);
      const plan = await planContour(planning, await planTiming(planning, ids));
      const whole = { from: 0, to: plan.frames / FRAMES_PER_STEP };
      const piece = pieceOf(plan, await network.source(plan.pitchHz), whole, whole);
      const outputs = await decoder.run(pieceTensors(piece, style(ids)));
      floatsOf(outputs, "statistics").forEach((value, at) => {
        sums[at]! += value / spoken.length;
      });
    }
    const statistics = Float32Array.from(sums);
    await keep(folder, table.id, statistics).catch(() => {});
    return statistics;
  } finally {
    await decoder.release();
  }
}

function pathOf(folder: string, id: string): string {
  return join(folder, FOLDER, `${id}.safetensors`);
}

async function keep(folder: string, id: string, statistics: Float32Array): Promise<void> {
  const path = pathOf(folder, id);
  const draft = `${path}.${process.pid}.${randomUUID()}.part`;
  const { buffer, byteOffset, byteLength } = statistics;
  try {
    await mkdir(join(folder, FOLDER), { recursive: true });
    const tensor = { name: TENSOR, dtype: "F32", shape: [statistics.length] } as const;
    const make = () => [new Uint8Array(buffer, byteOffset, byteLength)];
    await writeSafetensors(draft, [{ tensors: [tensor], make }], { format: String(FORMAT) });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}
