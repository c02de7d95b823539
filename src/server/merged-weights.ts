import { rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { draftName, findMerged, mergedName, originOf, removeBroken } from "../catalogue/merged-file.ts";
import { asDiskError, freeBytesOf, requireSpace } from "../catalogue/pull/disk.ts";
import { withLock } from "../catalogue/pull/lock.ts";
import { DEFAULT_TIMES } from "../catalogue/pull/options.ts";
import { sha256OfFile } from "../files/sha256-of-file.ts";
import { MERGE_VERSION, type Merging } from "../writers/gguf/merge-adapter.ts";
import { runInChild } from "./child-task.ts";

/** Of what a merged file is made, and where. */
export interface MergeInputs {
  /** The model. Its bytes have this SHA-256. */
  readonly base: { readonly path: string; readonly sha256: string };
  readonly adapterPath: string;
  /** The folder of the merged file. */
  readonly dir: string;
  /** What one process at a time holds who writes there. */
  readonly lock: string;
  readonly signal: AbortSignal;
  /** Is told, once, when another process holds the lock, and is waited for. */
  readonly onWait?: () => void;
  /** Tells how many bytes a folder has room for; asks the system unless given. */
  readonly freeBytes?: (dir: string) => Promise<number>;
}

export interface MergedWeights {
  readonly path: string;
  /** Whether it was made just now. */
  readonly isNew: boolean;
}

/**
 * One file of a model and its adapter: the one that is there, if every byte of it is right, or one that is made now.
 * Those that were made of others stay.
 *
 * @throws Error with the remedy where there is none and none can be made; the signal's reason.
 */
export async function mergedWeights(inputs: MergeInputs): Promise<MergedWeights> {
  const { base, adapterPath, dir, lock, signal, onWait = () => {} } = inputs;
  const origin = originOf([`${MERGE_VERSION}`, base.sha256, await sha256OfFile(adapterPath, signal)]);
  // Without the lock first: what is there may be used where nothing can be written.
  const there = await findMerged(dir, origin, signal);
  if (there !== null) return { path: there, isNew: false };
  return withLock(lock, DEFAULT_TIMES, signal, onWait, async (guarded) => {
    const meanwhile = await findMerged(dir, origin, guarded);
    if (meanwhile !== null) return { path: meanwhile, isNew: false };
    await removeBroken(dir, origin);
    return { path: await made(inputs, origin, guarded), isNew: true };
  });
}

async function made(inputs: MergeInputs, origin: string, signal: AbortSignal): Promise<string> {
  const { base, adapterPath, dir, freeBytes = freeBytesOf } = inputs;
  const { size } = await stat(base.path);
  const draft = join(dir, draftName(origin));
  try {
    await requireSpace(dir, Math.ceil(MAX_GROWTH * size), freeBytes);
    const merging: Merging = { basePath: base.path, adapterPath, outPath: draft };
    const sha256 = await runInChild<string>(MERGE_RUN, merging, "merges", signal);
    const path = join(dir, mergedName(origin, sha256));
    await rename(draft, path);
    return path;
  } catch (error) {
    throw asDiskError(error, dir);
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
}

/** Of blocks of 20 bytes, 34 are made. */
const MAX_GROWTH = 1.7;
/** Merging takes all memory that a model does, and blocks: it has a process of its own. */
const MERGE_RUN = new URL("./merge-run.js", import.meta.url);
