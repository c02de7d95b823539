import type { CheckpointManifest } from "../catalogue/checkpoint-manifest.ts";
import { DEFAULT_WRITER, findCheckpoint } from "../catalogue/checkpoints.ts";
import { ownManifest } from "../catalogue/folder-records.ts";
import { findHubWriter } from "../catalogue/hub-writers.ts";
import { checkpointFile, inspectCheckpoint, verifyCheckpoint } from "../catalogue/installed-checkpoint.ts";
import { pullCheckpoint } from "../catalogue/pull/pull.ts";
import { messageOf } from "../catalogue/pull/pull-error.ts";
import type { WeightsPull } from "./weights-pull.ts";

/** A writer's weights, as far as they could be had. */
export interface WriterWeights {
  /** Absolute path of the GGUF file, which may be missing or damaged. */
  readonly path: string;
  /** What the file is of; `null` when nobody knows. */
  readonly manifest: CheckpointManifest | null;
  /** One sentence with the remedy; `null` when every byte of the file is right. */
  readonly problem: string | null;
}

/**
 * Sees to it that a writer's weights are there. Never throws, and so never keeps a server from starting: whatever goes
 * wrong is the `problem`, for the log and for whoever asks for an authored turn.
 */
export async function pullWriter(options: WeightsPull): Promise<WriterWeights> {
  const { dataDir, checkpoint = DEFAULT_WRITER, signal } = options;
  let path = "";
  let manifest: CheckpointManifest | null = null;
  try {
    manifest = findCheckpoint(checkpoint) ?? (await pulledBefore(checkpoint, dataDir));
    path = checkpointFile(manifest, dataDir);
    const problem = await missingOf(manifest, options);
    return { path, manifest, problem };
  } catch (error) {
    return { path, manifest, problem: signal.aborted ? INTERRUPTED : messageOf(error) };
  }
}

async function missingOf(manifest: CheckpointManifest, options: WeightsPull): Promise<string | null> {
  const { dataDir, pull, signal } = options;
  if (findCheckpoint(manifest.name) === undefined) {
    // Every byte of some gigabytes was looked at when they were pulled; that they are there will do at each start.
    const { problem } = await inspectCheckpoint(manifest, dataDir);
    if (problem === null || !pull) return problem;
  } else if (!pull) {
    return (await verifyCheckpoint(manifest, dataDir, signal)).problem;
  }
  await pullCheckpoint(manifest, options);
  return null;
}

/** @throws Error with the remedy. */
async function pulledBefore(name: string, dataDir: string): Promise<CheckpointManifest> {
  const own = await ownManifest(name, dataDir);
  if (own?.manifest) return own.manifest;
  if (own !== null) throw new Error(own.problem ?? "");
  const remedy =
    findHubWriter(name) === undefined
      ? "run antiphon models list to see which there are, and set writer.checkpoint to one"
      : `run antiphon models pull ${name}`;
  throw new Error(`The checkpoint ${name} of writer.checkpoint is not installed: ${remedy}.`);
}

const INTERRUPTED = "The writer's weights were not fetched, because the server stops.";
