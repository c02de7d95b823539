import {
  DEFAULT_RECOGNISER,
  findRecogniser,
  namesOf,
  recogniserManifests,
} from "../../models/checkpoint-manifest.ts";
import { messageOf } from "../../models/download/pull-error.ts";
import { type Conversion, pullRecogniser, UnfitWeightsError } from "../../models/download/pull-recogniser.ts";
import { recogniserRecord } from "../../models/installation-records.ts";
import { checkpointDir, inspectCheckpoint } from "../../models/installed-checkpoint.ts";
import { FORMAT } from "../../recognition/whisper/description.ts";
import { runInChild } from "../child-task.ts";
import type { WeightsPull } from "../weights-pull.ts";

export interface RecogniserWeights {
  /** Absolute path of the directory of graphs, which may be missing or damaged; empty if unknown. */
  readonly dir: string;
  /** Sentences with the remedy; `null` if installed. Bytes are verified when they are read. */
  readonly problem: string | null;
}

/**
 * Makes a recogniser's weights available. Never throws, so that a server always starts; `problem` says what went
 * wrong.
 */
export async function recogniserWeights(options: WeightsPull): Promise<RecogniserWeights> {
  const { dataDir, checkpoint = DEFAULT_RECOGNISER, pull, signal } = options;
  let dir = "";
  try {
    const manifest = findRecogniser(checkpoint);
    if (manifest === undefined) return { dir, problem: unknown(checkpoint) };
    dir = checkpointDir(manifest, dataDir);
    const record = await recogniserRecord(manifest, dataDir, WHISPER_CONVERSION.version);
    const { state, problem } = await inspectCheckpoint(record, dataDir);
    if (state === "installed" || !pull) return { dir, problem };
    await pullRecogniser(manifest, { ...options, conversion: WHISPER_CONVERSION });
    return { dir, problem: null };
  } catch (error) {
    return { dir, problem: signal.aborted ? INTERRUPTED : messageOf(error) };
  }
}

function unknown(checkpoint: string): string {
  const names = recogniserManifests().flatMap(namesOf).join(", ");
  return `There is no recogniser ${JSON.stringify(checkpoint)}: set recogniser.checkpoint to one of ${names}.`;
}

const INTERRUPTED = "The recogniser's weights were not fetched, because the server stops.";

/** Directories of a published Whisper model and of the result. */
export interface ConversionJob {
  readonly from: string;
  readonly into: string;
}

/** `unfit` says what is wrong with the weights, if anything. */
export interface ConversionResult {
  readonly unfit: string | null;
}

/**
 * Converts a Whisper model to our two graphs in a process of its own: a few seconds and 370 MB for the base model.
 */
export const WHISPER_CONVERSION: Conversion = {
  version: FORMAT,
  async convert(from, into, signal) {
    const converting: ConversionJob = { from, into };
    const { unfit } = await runInChild<ConversionResult>(CONVERSION_RUN, converting, "converts", signal);
    if (unfit !== null) throw new UnfitWeightsError(unfit);
  },
};

const CONVERSION_RUN = new URL("./whisper-conversion-run.js", import.meta.url);
