import { randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { NativeGuard } from "../../onnx/session.ts";
import { floatsOf } from "../../onnx/tensor.ts";
import { openWeights } from "../../onnx/weights-folder.ts";
import { isIntact, readMetadata, writeSafetensors } from "../../onnx/write-safetensors.ts";
import { runToEnd } from "../following/analysis/work.ts";
import { CALIBRATION_SENTENCES, sentencePitch } from "../following/pitch-map.ts";
import { FRAMES_PER_STEP } from "../prosody/frames.ts";
import { type Plan, planContour, planTiming } from "../prosody/plan.ts";
import type { SegmentReader } from "../prosody/segments.ts";
import {
  type BaselineProfile,
  type CalibrationSentence,
  decodeProfile,
  encodeProfile,
  measureBaselineProfile,
} from "./baseline-profile.ts";
import { decoderPiece, InverseStft } from "./decoded-hops.ts";
import type { ConvertedGraphs } from "./graphs/converted-graphs.ts";
import { type KokoroNetwork, openGraph, pieceTensors, planningNetworkFor } from "./network.ts";
import type { StyleTable } from "./voices.ts";

/** Increases with every change of the file or of how it is measured. */
const FORMAT = 2;
const FOLDER = "statistics";
const TENSORS = ["level", "slope", "floor", "figures", "pitch", "codebook"] as const;

/** Sentences spoken to measure a voice: two short ones, an ordinary one, and a long one. */
export const SPOKEN_SENTENCES: readonly string[] = [
  "The train was late again.",
  "Would you like some more?",
  "She says the sixth ship has sails made of yellow silk.",
  "The early train was very late, so we walked along the river and talked about the weather.",
];

/** Sentences planned in addition, to measure the voice's pitch. */
const PLANNED: readonly string[] = CALIBRATION_SENTENCES.slice(0, 8);

export interface MeasuredVoice {
  readonly statistics: NormStatistics;
  readonly baseline: BaselineProfile;
}

export interface MeasuringOptions {
  readonly folder: string;
  readonly graphs: ConvertedGraphs;
  readonly network: Pick<KokoroNetwork, "read" | "intone" | "source">;
  readonly reader: Pick<SegmentReader, "read">;
  readonly guard?: NativeGuard | undefined;
}

/** Returns a voice's stored measurements; `null` if there are none, or the file is damaged. */
export async function readMeasuredVoice(
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
      statistics: { level, slope: slope!, floor: floor! },
      baseline: decodeProfile({ figures: figures!, pitch: pitch!, codebook: codebook! }),
    };
  } finally {
    await file.close();
  }
}

/**
 * Speaks some sentences with a voice, and stores the statistics of the decoder's norms and the voice's baseline: some
 * seconds of processor time, once. If they cannot be stored, they are measured again next time.
 */
export async function measureVoice(
  { folder, graphs, network, reader, guard }: MeasuringOptions,
  table: StyleTable,
  signal: AbortSignal,
): Promise<MeasuredVoice> {
  const { planning, style } = planningNetworkFor(network, [{ weight: 1, table }]);
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
  const decoder = await openGraph(graphs, "reporting", guard);
  try {
    const measured: MeasuredNorms[] = [];
    const said: CalibrationSentence[] = [];
    for (const plan of await planned(SPOKEN_SENTENCES)) {
      signal.throwIfAborted();
      const steps = plan.frames / FRAMES_PER_STEP;
      const whole = { from: 0, to: steps };
      const piece = decoderPiece(plan, await network.source(plan.pitchHz), whole, whole);
      const outputs = await decoder.run(pieceTensors(piece, style(plan.ids)));
      measured.push({ steps, statistics: floatsOf(outputs, "statistics") });
      const samples = new InverseStft(graphs.inverseBasis).add(floatsOf(outputs, "spectrum"), true);
      said.push({ plan, pitch: sentencePitch(plan), samples });
    }
    for (const plan of await planned(PLANNED)) said.push({ plan, pitch: sentencePitch(plan), samples: null });
    // Rounds as the stored file does, so that both give the same bits.
    const baseline = decodeProfile(encodeProfile(await runToEnd(measureBaselineProfile(said), signal)));
    const voice = { statistics: fitNormStatistics(measured), baseline };
    await keep(folder, table.id, voice).catch(() => {});
    return voice;
  } finally {
    await decoder.release();
  }
}

function pathOf(folder: string, id: string): string {
  return join(folder, FOLDER, `${id}.safetensors`);
}

async function keep(folder: string, id: string, { statistics, baseline }: MeasuredVoice): Promise<void> {
  const path = pathOf(folder, id);
  const draft = `${path}.${process.pid}.${randomUUID()}.part`;
  try {
    await mkdir(join(folder, FOLDER), { recursive: true });
    const rows = { ...statistics, ...encodeProfile(baseline) };
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

/**
 * Statistics of a voice's norms for any sentence length. The silence around every sentence is about the same, so its
 * share, and with it a mean over the sentence, goes with the inverse of the length: a line for each number. A floor
 * keeps variances positive.
 */
export interface NormStatistics {
  /** Statistics of an infinitely long sentence. */
  readonly level: Float32Array;
  /** Slope over the inverse of a sentence's length in steps of 25 ms. */
  readonly slope: Float32Array;
  readonly floor: Float32Array;
}

export interface MeasuredNorms {
  readonly steps: number;
  readonly statistics: Float32Array;
}

/** The floor, as a share of the smallest measured value. */
const FLOOR_SHARE = 0.3;

/** Fits a line to measurements (least squares). @param sentences of at least two lengths */
export function fitNormStatistics(sentences: readonly MeasuredNorms[]): NormStatistics {
  const count = sentences[0]?.statistics.length ?? 0;
  const inverses = sentences.map(({ steps }) => 1 / steps);
  const middle = inverses.reduce((sum, each) => sum + each, 0) / inverses.length;
  const spread = inverses.reduce((sum, each) => sum + (each - middle) ** 2, 0);
  const level = new Float32Array(count);
  const slope = new Float32Array(count);
  const floor = new Float32Array(count);
  for (let at = 0; at < count; at++) {
    let mean = 0;
    let rise = 0;
    let least = Number.POSITIVE_INFINITY;
    for (const [index, { statistics }] of sentences.entries()) {
      const value = statistics[at]!;
      mean += value / sentences.length;
      rise += ((inverses[index]! - middle) * value) / spread;
      least = Math.min(least, value);
    }
    slope[at] = rise;
    level[at] = mean - rise * middle;
    floor[at] = least > 0 ? FLOOR_SHARE * least : Number.NEGATIVE_INFINITY;
  }
  return { level, slope, floor };
}

/** Shortest sentence that the line is valid for: "Yes." */
const MIN_STEPS = 40;

export function normStatisticsFor({ level, slope, floor }: NormStatistics, steps: number): Float32Array {
  const inverse = 1 / Math.max(MIN_STEPS, steps);
  return level.map((value, at) => Math.max(floor[at]!, value + slope[at]! * inverse));
}
