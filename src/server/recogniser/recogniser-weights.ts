import {
  DEFAULT_RECOGNISER,
  findRecogniser,
  namesOf,
  pullableRecognisers,
} from "../../models/checkpoints.ts";
import { messageOf } from "../../models/download/pull-error.ts";
import { recogniserRecord } from "../../models/folder-records.ts";
import { checkpointDir, inspectCheckpoint } from "../../models/installed-checkpoint.ts";
import {
  type Conversion,
  pullRecogniser,
  UnfitWeightsError,
} from "../../models/recognisers/pull-recogniser.ts";
import { FORMAT } from "../../recognition/whisper/description.ts";
import { runInChild } from "../child-task.ts";
import type { WeightsPull } from "../weights-pull.ts";

/** A recogniser's weights, as far as they could be had. */
export interface RecogniserWeights {
  /** Absolute path of the folder with the graphs, which may be missing or damaged; empty where nobody knows it. */
  readonly dir: string;
  /** In plain sentences with the remedy; `null` when all is there. Bytes are checked when they are read. */
  readonly problem: string | null;
}

/**
 * Sees to it that a recogniser's weights are there. Never throws, and so never keeps a server from starting: whatever
 * goes wrong is the `problem`.
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
  const names = pullableRecognisers().flatMap(namesOf).join(", ");
  return `There is no recogniser ${JSON.stringify(checkpoint)}: set recogniser.checkpoint to one of ${names}.`;
}

const INTERRUPTED = "The recogniser's weights were not fetched, because the server stops.";

/** A Whisper model as others publish it, and where ours goes. */
export interface ConversionJob {
  readonly from: string;
  readonly into: string;
}

/** How a conversion ended: what was wrong with the weights, or null. */
export interface ConversionResult {
  readonly unfit: string | null;
}

/** Makes our two graphs of a Whisper model: some seconds and 370 MB for the base one, in a process of its own. */
export const WHISPER_CONVERSION: Conversion = {
  version: FORMAT,
  async convert(from, into, signal) {
    const converting: ConversionJob = { from, into };
    const { unfit } = await runInChild<ConversionResult>(CONVERSION_RUN, converting, "converts", signal);
    if (unfit !== null) throw new UnfitWeightsError(unfit);
  },
};

const CONVERSION_RUN = new URL("./whisper-conversion-run.js", import.meta.url);
