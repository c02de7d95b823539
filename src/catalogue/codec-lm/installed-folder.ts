import { statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { digestOfFile } from "../../files/sha256-of-file.ts";
import { hashName, newHash, rightDigest } from "../checksum.ts";
import { type CheckpointState, checkpointDir } from "../installed-checkpoint.ts";
import { asDiskError } from "../pull/disk.ts";
import { lockPath, tryLock } from "../pull/lock.ts";
import { codeOf, PullError } from "../pull/pull-error.ts";
import { removeCheckpoint } from "../pull/remove.ts";
import { DEFAULT_TIMES } from "../pull/times.ts";
import { findCodecLm, type KnownCodecLm } from "./known-checkpoints.ts";
import { checksumOf, readRecord } from "./pulled-record.ts";

type Named = Pick<KnownCodecLm, "name">;

/**
 * Absolute path of the folder that a known checkpoint was pulled into, or `null` when there is none, or not all of it.
 * Looks at sizes alone.
 */
export function installedFolder(dataDir: string, name: string): string | null {
  const known = findCodecLm(name);
  if (known === undefined || inspectCodecLm(known, dataDir).state !== "installed") return null;
  return checkpointDir(known, dataDir);
}

/** Where a checkpoint is put together. It is moved to its place when it is whole. */
export function begunFolder({ name }: Named, dataDir: string): string {
  return join(dirname(checkpointDir({ name }, dataDir)), `.${name}.begun`);
}

/** Looks at the sizes only: blind to bytes that have changed in place. */
export function inspectCodecLm(known: Named, dataDir: string): CheckpointState {
  const folder = checkpointDir(known, dataDir);
  const state = (state: CheckpointState["state"], sizeBytes: number, what: string): CheckpointState => ({
    state,
    sizeBytes,
    problem:
      state === "installed"
        ? null
        : `The checkpoint ${known.name} is ${what}: run antiphon models pull ${known.name}.`,
  });
  const record = readRecord(folder);
  if (record === null) {
    return sizeOf(folder) === null
      ? state("missing", 0, `missing (there is no ${folder})`)
      : state("damaged", 0, `damaged (${folder} does not say what it consists of)`);
  }
  const sizes = record.files.map(({ path }) => sizeOf(join(folder, path)));
  const sizeBytes = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  const wrong = record.files.findIndex((file, at) => sizes[at] !== file.sizeBytes);
  if (wrong < 0) return state("installed", sizeBytes, "");
  const { path, sizeBytes: wanted } = record.files[wrong]!;
  const found = sizes[wrong] === null ? "is not there" : `has ${sizes[wrong]} bytes instead of ${wanted}`;
  return state("damaged", sizeBytes, `damaged (${join(folder, path)} ${found})`);
}

/** Reads every byte. @returns what is wrong with a folder that was pulled, or `null`; throws the signal's reason. */
export async function faultIn(known: Named, dataDir: string, signal: AbortSignal): Promise<string | null> {
  const { state, problem } = inspectCodecLm(known, dataDir);
  if (state !== "installed") return problem;
  const folder = checkpointDir(known, dataDir);
  for (const file of readRecord(folder)?.files ?? []) {
    const path = join(folder, file.path);
    const checksum = checksumOf(file);
    if (checksum === null) return `${path} is of unknown bytes`;
    const found = await digestOfFile(path, newHash(checksum, file.sizeBytes), signal).catch((error) => {
      signal.throwIfAborted();
      return `unreadable (${codeOf(error) ?? "it cannot be read"})`;
    });
    if (found !== rightDigest(checksum)) {
      return `${path} has the ${hashName(checksum)} ${found} instead of ${rightDigest(checksum)}`;
    }
  }
  return null;
}

/**
 * Removes a checkpoint, and all that a broken pull left of it. False when there was nothing.
 *
 * @throws PullError when it is being installed, or the disk does not let go of it.
 */
export async function removeCodecLm(known: Named, dataDir: string): Promise<boolean> {
  const begun = begunFolder(known, dataDir);
  const wasBegun = sizeOf(begun) !== null;
  if (wasBegun) {
    const done = await tryLock(lockPath(known, dataDir), DEFAULT_TIMES, () =>
      rm(begun, { recursive: true, force: true }).catch((error: unknown) => {
        throw asDiskError(error, begun);
      }),
    );
    if (done === null) {
      throw new PullError(
        `The checkpoint ${known.name} is being installed by another process: end that first.`,
      );
    }
  }
  return (await removeCheckpoint(known, dataDir)) || wasBegun;
}

function sizeOf(path: string): number | null {
  try {
    return statSync(path).size;
  } catch {
    return null;
  }
}
