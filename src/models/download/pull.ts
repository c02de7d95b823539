import { rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { WriterManifest } from "../checkpoint-manifest.ts";
import {
  type CheckpointRecord,
  type CheckpointState,
  checkpointDir,
  verifyCheckpoint,
} from "../installed-checkpoint.ts";
import { makeFolder, megabytes, onDisk } from "./disk.ts";
import { lockPath, tryLock, withLock } from "./lock.ts";
import { DEFAULT_TIMES, type FetchContext, fetchContext, type PullOptions } from "./options.ts";
import { PullError } from "./pull-error.ts";
import { NoSourceError, pullMissing } from "./pull-file.ts";

export type PullOutcome = "already-installed" | "installed";

/** The steps of a pull that differ between kinds of checkpoints. */
interface PullSteps {
  /** Checks every byte. */
  verify(signal: AbortSignal): Promise<CheckpointState>;
  /** Asks what to fetch and whether the user agrees. Runs before anything is written. */
  ask?(fetching: FetchContext): Promise<void>;
  /** Fetches, checks, converts and places missing or damaged files. */
  install(fetching: FetchContext): Promise<void>;
}

/**
 * Installs a checkpoint, one process at a time.
 *
 * @throws PullError, one or two sentences with the remedy; the signal's reason
 */
export async function runPull(
  steps: PullSteps,
  { name }: Pick<CheckpointRecord, "name">,
  options: PullOptions,
): Promise<PullOutcome> {
  const fetching = fetchContext(options);
  const { times, signal, observe } = fetching;
  signal.throwIfAborted();
  // First without the lock, so that a read-only data directory works.
  if ((await steps.verify(signal)).state === "installed") return "already-installed";
  await steps.ask?.(fetching);
  const lock = lockPath({ name }, options.dataDir);
  await makeFolder(dirname(lock));
  const onWait = () => observe({ kind: "waiting", checkpoint: name });
  return withLock(lock, times, signal, onWait, async (guarded) => {
    const { state, problem } = await steps.verify(guarded);
    if (state === "installed") return "already-installed";
    if (state === "damaged") {
      observe({ kind: "damaged", problem: (problem ?? "").replace(/: run antiphon[^:]*$/, "") });
    }
    await steps.install({ ...fetching, signal: guarded });
    return "installed";
  });
}

/**
 * Installs a writer. A file appears under its name once it is complete, checked and synced.
 *
 * @throws PullError, one or two sentences with the remedy; the signal's reason
 */
export function pullCheckpoint(manifest: WriterManifest, options: PullOptions): Promise<PullOutcome> {
  const { dataDir } = options;
  const dir = checkpointDir(manifest, dataDir);
  return runPull(
    {
      verify: (signal) => verifyCheckpoint(manifest, dataDir, signal),
      async install(fetching) {
        await makeFolder(dir);
        try {
          await pullMissing(manifest.files, dir, fetching);
        } catch (error) {
          await rmdir(dir).catch(() => {});
          throw error instanceof NoSourceError ? fetchError(manifest, dir, error) : error;
        }
      },
    },
    manifest,
    options,
  );
}

function fetchError({ name, files }: WriterManifest, dir: string, error: NoSourceError): PullError {
  const kept = error.keptBytes > 0 ? ` (${megabytes(error.keptBytes)} are kept for the next time)` : "";
  const byHand = files.map(({ path }) => join(dir, path)).join(", ");
  const isFixed = files.every(({ sources }) => sources.every(({ kind }) => kind === "hub"));
  const otherwise = isFixed
    ? `run antiphon models rm ${name} to begin with what the hub has today`
    : "set writer.kind to chat or gguf";
  return new PullError(
    `The weights of ${name} could not be fetched${kept}. ${error.message}. ` +
      `Run antiphon models pull ${name} again, put the file at ${byHand} by hand, or ${otherwise}.`,
    { cause: error },
  );
}

/** Returns the folder in which a checkpoint is assembled before it appears. */
export function stagingDir({ name }: Pick<CheckpointRecord, "name">, dataDir: string): string {
  return join(dataDir, "checkpoints", `.${name}.begun`);
}

/**
 * Removes a checkpoint and all remains of interrupted pulls. Returns false if there was nothing.
 *
 * @throws PullError if it is being installed or the disk fails
 */
export async function removeCheckpoint(
  named: Pick<CheckpointRecord, "name">,
  dataDir: string,
): Promise<boolean> {
  const folders = [stagingDir(named, dataDir), checkpointDir(named, dataDir)];
  const entries = await Promise.all(folders.map((folder) => stat(folder).catch(() => null)));
  if (entries.every((entry) => entry === null)) return false;
  const done = await tryLock(lockPath(named, dataDir), DEFAULT_TIMES, async () => {
    for (const folder of folders) await onDisk(folder, () => rm(folder, { recursive: true, force: true }));
  });
  if (done !== null) return true;
  throw new PullError(
    `The checkpoint ${named.name} is being installed by another process: wait for it, or stop it first.`,
  );
}
