import type { CheckpointManifest } from "../../models/checkpoint-manifest.ts";
import { pullCheckpoint } from "../../models/download/pull.ts";
import { messageOf } from "../../models/download/pull-error.ts";
import { ownManifest } from "../../models/folder-records.ts";
import { findHubWriter } from "../../models/hub-writers.ts";
import { checkpointFile, inspectCheckpoint } from "../../models/installed-checkpoint.ts";
import type { WeightsPull } from "../weights-pull.ts";

/** A writer's weights, as far as they could be had. */
export interface WriterWeights {
  /** Absolute path of the GGUF file, which may be missing or damaged. */
  readonly path: string;
  /** `null` when nobody knows what the file is. */
  readonly manifest: CheckpointManifest | null;
  /** One sentence with the remedy; `null` when the file is there. */
  readonly problem: string | null;
}

/**
 * Sees to it that the weights of a checkpoint that was pulled are there. Never throws, and so never keeps a server from
 * starting: whatever goes wrong is the `problem`.
 */
export async function pullWriter(
  options: WeightsPull & { readonly checkpoint: string },
): Promise<WriterWeights> {
  const { dataDir, checkpoint, pull, signal } = options;
  let path = "";
  let manifest: CheckpointManifest | null = null;
  try {
    manifest = await pulledBefore(checkpoint, dataDir);
    path = checkpointFile(manifest, dataDir);
    // Every byte of some gigabytes was checked when they were pulled: that they are there will do at each start.
    const { problem } = await inspectCheckpoint(manifest, dataDir);
    if (problem === null || !pull) return { path, manifest, problem };
    await pullCheckpoint(manifest, options);
    return { path, manifest, problem: null };
  } catch (error) {
    return { path, manifest, problem: signal.aborted ? INTERRUPTED : messageOf(error) };
  }
}

/** @throws Error with the remedy */
async function pulledBefore(name: string, dataDir: string): Promise<CheckpointManifest> {
  const own = await ownManifest(name, dataDir);
  if (own?.manifest) return own.manifest;
  if (own !== null) throw new Error(own.problem ?? "");
  const remedy =
    findHubWriter(name) === undefined
      ? "set writer.checkpoint to one that antiphon models list shows, or leave it out for small talk"
      : `run antiphon models pull ${name}`;
  throw new Error(`The checkpoint ${name} of writer.checkpoint is not installed: ${remedy}.`);
}

const INTERRUPTED = "The writer's weights were not fetched, because the server stops.";
