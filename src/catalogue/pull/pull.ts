import { rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { CheckpointManifest } from "../checkpoint-manifest.ts";
import { brokenFiles, checkpointDir, checkpointFile } from "../installed-checkpoint.ts";
import { freeBytesOf, makeFolder, megabytes } from "./disk.ts";
import { lockPath, withLock } from "./lock.ts";
import type { PullObserver } from "./observer.ts";
import { removePipLeftovers } from "./pip-source.ts";
import { PullError } from "./pull-error.ts";
import { type FileFetching, NoSourceError, pullFile } from "./pull-file.ts";
import { DEFAULT_TIMES, type PullTimes } from "./times.ts";

/** How a checkpoint is pulled. All but the data directory may be left out. */
export interface PullOptions {
  readonly dataDir: string;
  /** Ends the pull; what is there stays for the next. */
  readonly signal?: AbortSignal;
  readonly observe?: PullObserver;
  /** The environment; this process's unless given. */
  readonly env?: NodeJS.ProcessEnv;
  readonly times?: Partial<PullTimes>;
  /** Tells how many bytes a folder has room for; asks the system unless given. */
  readonly freeBytes?: (dir: string) => Promise<number>;
}

/**
 * Sees to it that a checkpoint is installed, byte for byte: fetches what is missing or damaged, from the first source
 * that has it, one process at a time. Each file appears under its name only when it is complete, checked and on the disk.
 *
 * @throws PullError, in one or two sentences with the remedy; the signal's reason.
 */
export async function pullCheckpoint(
  manifest: CheckpointManifest,
  options: PullOptions,
): Promise<"already-installed" | "installed"> {
  const { dataDir, signal = new AbortController().signal, observe = () => {} } = options;
  const times = { ...DEFAULT_TIMES, ...options.times };
  signal.throwIfAborted();
  // Without the lock first: what is there may be used where nothing can be written.
  if ((await brokenFiles(manifest, dataDir, signal)).length === 0) return "already-installed";
  const lock = lockPath(manifest, dataDir);
  await makeFolder(dirname(lock));
  const onWait = () => observe({ kind: "waiting", checkpoint: manifest.name });
  return withLock(lock, times, signal, onWait, async (guarded) => {
    const fetching: FileFetching = {
      times,
      env: options.env ?? process.env,
      freeBytes: options.freeBytes ?? freeBytesOf,
      observe,
      signal: guarded,
    };
    return pullBroken(manifest, dataDir, fetching);
  });
}

async function pullBroken(
  manifest: CheckpointManifest,
  dataDir: string,
  fetching: FileFetching,
): Promise<"already-installed" | "installed"> {
  const dir = checkpointDir(manifest, dataDir);
  const broken = await brokenFiles(manifest, dataDir, fetching.signal);
  if (broken.length === 0) return "already-installed";
  await makeFolder(dir);
  await removePipLeftovers(dir);
  try {
    for (const { file, path, fault } of broken) {
      if (fault !== null) fetching.observe({ kind: "damaged", problem: `${path} ${fault}` });
      await pullFile(file, path, fetching);
    }
    return "installed";
  } catch (error) {
    await rmdir(dir).catch(() => {});
    throw error instanceof NoSourceError ? allFailed(manifest, dataDir, error) : error;
  }
}

function allFailed(manifest: CheckpointManifest, dataDir: string, error: NoSourceError): PullError {
  const { name, files } = manifest;
  const kept = error.keptBytes > 0 ? ` (${megabytes(error.keptBytes)} are kept for the next time)` : "";
  const byHand = files.map((file) => checkpointFile(manifest, dataDir, file)).join(", ");
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
