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

/** What became of a pull. */
export type PullOutcome = "already-installed" | "installed";

/** The steps of a pull in which kinds of checkpoints differ. */
export interface PullSteps {
  /** Looks at every byte of what is there. */
  verify(signal: AbortSignal): Promise<CheckpointState>;
  /** Asks what there is to fetch, and whether it may be. Nothing is written before. */
  ask?(fetching: FetchContext): Promise<void>;
  /** Fetches what is missing or damaged, checks it, makes of it what is used here, and puts that in its place. */
  install(fetching: FetchContext): Promise<void>;
}

/**
 * Sees to it that a checkpoint is installed, byte for byte, one process at a time.
 *
 * @throws PullError, in one or two sentences with the remedy; the signal's reason.
 */
export async function runPull(
  steps: PullSteps,
  { name }: Pick<CheckpointRecord, "name">,
  options: PullOptions,
): Promise<PullOutcome> {
  const fetching = fetchContext(options);
  const { times, signal, observe } = fetching;
  signal.throwIfAborted();
  // Without the lock first: what is there may be used where nothing can be written.
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
 * Sees to it that a writer is installed: fetches what is missing or damaged from the first source that has it. Each file
 * appears under its name only when it is complete, checked and on the disk.
 *
 * @throws PullError, in one or two sentences with the remedy; the signal's reason.
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

/** Where a checkpoint is put together whose folder appears when it is whole. */
export function stagingDir({ name }: Pick<CheckpointRecord, "name">, dataDir: string): string {
  return join(dataDir, "checkpoints", `.${name}.begun`);
}

/**
 * Removes a checkpoint, and all that a broken pull left of it. False when there was nothing.
 *
 * @throws PullError when it is being installed, or the disk does not let go of it.
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
  throw new PullError(`The checkpoint ${named.name} is being installed by another process: end that first.`);
}
