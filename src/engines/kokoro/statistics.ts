import { randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { NativeGuard } from "../../onnx/session.ts";
import { floatsOf } from "../../onnx/tensor.ts";
import { openWeights } from "../../onnx/weights-folder.ts";
import { isIntact, readMetadata, writeSafetensors } from "../../onnx/write-safetensors.ts";
import { workedOff } from "../following/analysis/work.ts";
import { CALIBRATION_SENTENCES, sentencePitch } from "../following/own-pitch.ts";
import { FRAMES_PER_STEP } from "../prosody/frames.ts";
import { type Plan, planContour, planTiming } from "../prosody/plan.ts";
import type { SegmentReader } from "../prosody/segments.ts";
import { pieceOf } from "./decoder-pieces.ts";
import { InverseStft } from "./inverse-stft.ts";
import type { MadeFiles } from "./made-files.ts";
import { type KokoroNetwork, openGraph, pieceTensors } from "./network.ts";
import {
  hearOwnProfile,
  keptProfile,
  type OwnProfile,
  ownProfileOf,
  type SaidSentence,
} from "./own-profile.ts";
import { planningWith } from "./planning-network.ts";
import { lineThrough, type MeasuredSentence, type StatisticsLine } from "./statistics-line.ts";
import type { StyleTable } from "./voices.ts";

/** Goes up with every change of how they are made. */
const FORMAT = 2;
const FOLDER = "statistics";
const TENSORS = ["level", "slope", "floor", "figures", "pitch", "codebook"] as const;

/** What is spoken to learn a voice's statistics: two short sentences, an ordinary one, and a long one. */
export const CALIBRATION: readonly string[] = [
  "The train was late again.",
  "Would you like some more?",
  "She says the sixth ship has sails made of yellow silk.",
  "The early train was very late, so we walked along the river and talked about the weather.",
];

/** Sentences that are planned besides, to know the voice's pitch. */
const PLANNED: readonly string[] = CALIBRATION_SENTENCES.slice(0, 8);

/** What is read of a voice once: what its decoder's norms measure, and how it speaks by itself. */
export interface MeasuredVoice {
  readonly line: StatisticsLine;
  readonly own: OwnProfile;
}

/** What a voice's statistics are made with. */
export interface Calibration {
  /** Of the checkpoint: they are kept there. */
  readonly folder: string;
  readonly made: MadeFiles;
  readonly network: Pick<KokoroNetwork, "read" | "intone" | "source">;
  readonly reader: Pick<SegmentReader, "read">;
  readonly guard?: NativeGuard | undefined;
}

/** A voice's statistics, as they were made before; `null` where they were not, or the file is damaged. */
export async function readStatistics(
  folder: string,
  { id }: Pick<StyleTable, "id">,
  count: number,
  signal: AbortSignal,
): Promise<MeasuredVoice | null> {
  const path = pathOf(folder, id);
  if ((await readMetadata(path))?.format !== String(FORMAT) || !(await isIntact(path, signal))) return null;
  const file = await openWeights(join(folder, FOLDER), `${id}.safetensors`);
  try {
    const [level, slope, floor, figures, pitch, codebook] = await Promise.all(
      TENSORS.map((name) => file.read(name)),
    );
    if (level?.length !== count) return null;
    return {
      line: { level, slope: slope!, floor: floor! },
      own: ownProfileOf({ figures: figures!, pitch: pitch!, codebook: codebook! }),
    };
  } finally {
    await file.close();
  }
}

/**
 * Speaks some sentences with a voice, and keeps what the decoder's norms then measured, by the sentences' length, and what is
 * heard: some seconds of processor time, once. Where it cannot be kept, it is made again the next time.
 */
export async function makeStatistics(
  { folder, made, network, reader, guard }: Calibration,
  table: StyleTable,
  signal: AbortSignal,
): Promise<MeasuredVoice> {
  const { planning, style } = planningWith(network, [{ weight: 1, table }]);
  const planned = async (sentences: readonly string[]): Promise<Plan[]> => {
    const plans: Plan[] = [];
    for (const sentence of sentences) {
      for (const { ids } of await reader.read(sentence)) {
        signal.throwIfAborted();
        plans.push(await planContour(planning, await planTiming(planning, ids)));
      }
    }
    return plans;
  };
  const decoder = await openGraph(made, "reporting", guard);
  try {
    const measured: MeasuredSentence[] = [];
    const said: SaidSentence[] = [];
    for (const plan of await planned(CALIBRATION)) {
      signal.throwIfAborted();
      const steps = plan.frames / FRAMES_PER_STEP;
      const whole = { from: 0, to: steps };
      const piece = pieceOf(plan, await network.source(plan.pitchHz), whole, whole);
      const outputs = await decoder.run(pieceTensors(piece, style(plan.ids)));
      measured.push({ steps, statistics: floatsOf(outputs, "statistics") });
      const samples = new InverseStft(made.inverseBasis).add(floatsOf(outputs, "spectrum"), true);
      said.push({ plan, pitch: sentencePitch(plan), samples });
    }
    for (const plan of await planned(PLANNED)) said.push({ plan, pitch: sentencePitch(plan), samples: null });
    // As it is read again: in the same bits.
    const own = ownProfileOf(keptProfile(await workedOff(hearOwnProfile(said), signal)));
    const voice = { line: lineThrough(measured), own };
    await keep(folder, table.id, voice).catch(() => {});
    return voice;
  } finally {
    await decoder.release();
  }
}

function pathOf(folder: string, id: string): string {
  return join(folder, FOLDER, `${id}.safetensors`);
}

async function keep(folder: string, id: string, { line, own }: MeasuredVoice): Promise<void> {
  const path = pathOf(folder, id);
  const draft = `${path}.${process.pid}.${randomUUID()}.part`;
  try {
    await mkdir(join(folder, FOLDER), { recursive: true });
    const rows = { ...line, ...keptProfile(own) };
    const groups = TENSORS.map((name) => {
      const { buffer, byteOffset, byteLength, length } = rows[name];
      const tensors = [{ name, dtype: "F32", shape: [length] } as const];
      return { tensors, make: () => [new Uint8Array(buffer, byteOffset, byteLength)] };
    });
    await writeSafetensors(draft, groups, { format: String(FORMAT) });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}
