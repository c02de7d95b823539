import type { WriterManifest } from "../../models/checkpoint-manifest.ts";
import { pullCheckpoint } from "../../models/download/pull.ts";
import { messageOf } from "../../models/download/pull-error.ts";
import { readLocalManifest } from "../../models/installation-records.ts";
import { checkpointFile, inspectCheckpoint } from "../../models/installed-checkpoint.ts";
import { findKnownWriter } from "../../models/known-hub-models.ts";
import type { WeightsPull } from "../weights-pull.ts";

export interface WriterWeights {
  /** Absolute path of the GGUF file, which may be missing or damaged. */
  readonly path: string;
  /** `null` for an unknown file. */
  readonly manifest: WriterManifest | null;
  /** One sentence with the remedy; `null` when the file is there. */
  readonly problem: string | null;
}

/** Makes a pulled checkpoint's weights available. Never throws; `problem` says what went wrong. */
export async function pullWriter(
  options: WeightsPull & { readonly checkpoint: string },
): Promise<WriterWeights> {
  const { dataDir, checkpoint, pull, signal } = options;
  let path = "";
  let manifest: WriterManifest | null = null;
  try {
    manifest = await pulledBefore(checkpoint, dataDir);
    path = checkpointFile(manifest, dataDir);
    // Checks presence only: every byte was verified when pulled.
    const { problem } = await inspectCheckpoint(manifest, dataDir);
    if (problem === null || !pull) return { path, manifest, problem };
    await pullCheckpoint(manifest, options);
    return { path, manifest, problem: null };
  } catch (error) {
    return { path, manifest, problem: signal.aborted ? INTERRUPTED : messageOf(error) };
  }
}

/** @throws Error with the remedy */
async function pulledBefore(name: string, dataDir: string): Promise<WriterManifest> {
  const own = await readLocalManifest(name, dataDir);
  if (own?.manifest) return own.manifest;
  if (own !== null) throw new Error(own.problem ?? "");
  throw new Error(`The checkpoint ${name} of writer.checkpoint is not installed: ${checkpointRemedy(name)}.`);
}

/** Returns what to do about a checkpoint whose weights are missing. */
export function checkpointRemedy(name: string, isKnown = findKnownWriter(name) !== undefined): string {
  return isKnown
    ? `run antiphon models pull ${name}`
    : "set writer.checkpoint to one that antiphon models list shows, or leave it out for small talk";
}

const INTERRUPTED = "The writer's weights were not fetched, because the server stops.";
