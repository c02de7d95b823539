import type { CheckpointManifest } from "../catalogue/checkpoint-manifest.ts";
import { findCheckpoint, namesOf, pullableCheckpoints } from "../catalogue/checkpoints.ts";
import { checkpointDir } from "../catalogue/installed-checkpoint.ts";
import { EMBEDDED_CHECKPOINT } from "../catalogue/public-models.ts";
import { pullCheckpoint } from "../catalogue/pull/pull.ts";
import { removeCheckpoint } from "../catalogue/pull/remove.ts";
import { nearest } from "../settings/nearest.ts";
import { WrongCallError } from "./global-options.ts";
import { pullProgress } from "./pull-progress.ts";
import { onStopSignal, type StopSignal } from "./stop-signal.ts";

/**
 * Pulls checkpoints one after the other, and says so. An interrupt ends it as it ends any program, after the pull has
 * put itself away.
 */
export async function pullModels(names: readonly string[], dataDir: string): Promise<void> {
  const wanted = names.map(known);
  const progress = await pullProgress();
  const { signal, caught, release } = interruption();
  try {
    for (const manifest of wanted) {
      if (manifest === null) {
        process.stdout.write(`${EMBEDDED_CHECKPOINT} is part of Antiphon: there is nothing to pull.\n`);
        continue;
      }
      const outcome = await pullCheckpoint(manifest, { dataDir, signal, observe: progress.observe });
      const already = outcome === "installed" ? "installed" : "installed already, and every byte is right";
      process.stdout.write(`${manifest.name} is ${already}: ${checkpointDir(manifest, dataDir)}\n`);
    }
  } catch (error) {
    if (caught() === null) throw error;
    progress.close();
    process.stderr.write("Interrupted: what is here is kept, and the next pull goes on with it.\n");
  } finally {
    progress.close();
    release();
  }
  const signalName = caught();
  if (signalName !== null) process.kill(process.pid, signalName);
}

/** Removes a checkpoint, and says so. */
export async function removeModel(name: string, dataDir: string): Promise<void> {
  const manifest = known(name);
  if (manifest === null) {
    throw new Error(
      `The voice ${EMBEDDED_CHECKPOINT} is part of Antiphon, and speaks for every model: it stays.`,
    );
  }
  if (await removeCheckpoint(manifest, dataDir)) process.stdout.write(`${manifest.name} is removed.\n`);
  else
    throw new Error(
      `The checkpoint ${manifest.name} is not installed in ${dataDir}: there is nothing to remove.`,
    );
}

/** The checkpoint of that name; `null` for the embedded one. */
function known(name: string): CheckpointManifest | null {
  if (name === EMBEDDED_CHECKPOINT) return null;
  const manifests = pullableCheckpoints();
  const manifest = findCheckpoint(name, manifests);
  if (manifest !== undefined) return manifest;
  const names = manifests.flatMap(namesOf);
  const meant = nearest(name, [...names, EMBEDDED_CHECKPOINT]);
  const remedy = meant === null ? `there are ${names.join(", ")}.` : `did you mean ${meant}?`;
  throw new WrongCallError(`There is no checkpoint ${JSON.stringify(name)}: ${remedy}`);
}

/** A signal that aborts at the first SIGINT or SIGTERM. */
function interruption() {
  const abort = new AbortController();
  let name: StopSignal | null = null;
  const release = onStopSignal((signalName) => {
    name = signalName;
    abort.abort(new Error("interrupted"));
  });
  return { signal: abort.signal, caught: (): StopSignal | null => name, release };
}
