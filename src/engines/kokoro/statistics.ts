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
import { lineThrough, type MeasuredSentence, type StatisticsLine } from "./statistics-line.ts";
import type { StyleTable } from "./voices.ts";

/** Goes up with every change of how they are made. */
const FORMAT = 1;
const FOLDER = "statistics";
const TENSORS = ["level", "slope", "floor"] as const;

/** What is spoken to learn a voice's statistics: two short sentences, an ordinary one, and a long one. */
export const CALIBRATION: readonly string[] = [
  "The train was late again.",
  "Would you like some more?",
  "She says the sixth ship has sails made of yellow silk.",
  "The early train was very late, so we walked along the river and talked about the weather.",
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
): Promise<StatisticsLine | null> {
  const path = pathOf(folder, id);
  if ((await metadataOf(path))?.format !== String(FORMAT) || !(await isSound(path, signal))) return null;
  const file = await openWeights(join(folder, FOLDER), `${id}.safetensors`);
  try {
    const [level, slope, floor] = await Promise.all(TENSORS.map((name) => file.read(name)));
    return level?.length === count ? { level, slope: slope!, floor: floor! } : null;
  } finally {
    await file.close();
  }
}

/**
 * Speaks some sentences with a voice, and keeps what the decoder's norms then measured, by the sentences' length: some seconds of
 * processor time, once. Where it cannot be kept, it is made again the next time.
 */
export async function makeStatistics(
  { folder, made, network, sentences, guard }: Calibration,
  table: StyleTable,
  signal: AbortSignal,
): Promise<StatisticsLine> {
  const decoder = await openGraph(made, "reporting", guard);
  try {
    const measured: MeasuredSentence[] = [];
    for (const ids of await sentences()) {
      signal.throwIfAborted();
      const { planning, style } = planningWith(network, [{ weight: 1, table }]);
      const plan = await planContour(planning, await planTiming(planning, ids));
      const steps = plan.frames / FRAMES_PER_STEP;
      const whole = { from: 0, to: steps };
      const piece = pieceOf(plan, await network.source(plan.pitchHz), whole, whole);
      const outputs = await decoder.run(pieceTensors(piece, style(ids)));
      measured.push({ steps, statistics: floatsOf(outputs, "statistics") });
    }
    const line = lineThrough(measured);
    await keep(folder, table.id, line).catch(() => {});
    return line;
  } finally {
    await decoder.release();
  }
}

function pathOf(folder: string, id: string): string {
  return join(folder, FOLDER, `${id}.safetensors`);
}

async function keep(folder: string, id: string, line: StatisticsLine): Promise<void> {
  const path = pathOf(folder, id);
  const draft = `${path}.${process.pid}.${randomUUID()}.part`;
  try {
    await mkdir(join(folder, FOLDER), { recursive: true });
    const groups = TENSORS.map((name) => {
      const { buffer, byteOffset, byteLength, length } = line[name];
      const tensors = [{ name, dtype: "F32", shape: [length] } as const];
      return { tensors, make: () => [new Uint8Array(buffer, byteOffset, byteLength)] };
    });
    await writeSafetensors(draft, groups, { format: String(FORMAT) });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}
