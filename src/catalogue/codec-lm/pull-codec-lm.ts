import { readFile, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { accept, isAccepted } from "../hub/accepted-licences.ts";
import { HUB } from "../hub/hub-access.ts";
import { spelt } from "../hub/hub-manifest.ts";
import { lookAtRepository, withTree } from "../hub/hub-repository.ts";
import type { HubPullOptions } from "../hub/pull-hub.ts";
import { checkpointDir } from "../installed-checkpoint.ts";
import {
  asDiskError,
  FullDiskError,
  freeBytesOf,
  makeFolder,
  megabytes,
  requireSpace,
} from "../pull/disk.ts";
import { lockPath, withLock } from "../pull/lock.ts";
import { sizeOfPart } from "../pull/part-file.ts";
import { codeOf, PullError } from "../pull/pull-error.ts";
import { type FileFetching, NoSourceError, pullFile, type WantedFile } from "../pull/pull-file.ts";
import { DEFAULT_TIMES } from "../pull/times.ts";
import { isRight } from "../recognisers/right-file.ts";
import { checkpointFiles, likelyBytes } from "./checkpoint-files.ts";
import { begunFolder, faultIn, inspectCodecLm } from "./installed-folder.ts";
import type { KnownCodecLm } from "./known-checkpoints.ts";
import {
  checksumOf,
  type PulledRecord,
  type RecordedFile,
  readRecord,
  writeRecord,
} from "./pulled-record.ts";

/**
 * Sees to it that a codec language model is installed, byte for byte as the hub has it at one commit: the one that `main`
 * is at when the pull begins, whatever becomes of it until the last file is there. What came is kept when a pull is cut off,
 * also where the disk is full, and the next goes on with it. The folder appears when it is whole.
 *
 * @throws PullError, in one or two sentences with the remedy; the signal's reason.
 */
export async function pullCodecLm(
  known: KnownCodecLm,
  options: HubPullOptions,
): Promise<"already-installed" | "installed"> {
  const { dataDir, signal = new AbortController().signal, observe = () => {} } = options;
  const times = { ...DEFAULT_TIMES, ...options.times };
  const env = options.env ?? process.env;
  signal.throwIfAborted();
  // Without the lock first: what is there may be used where nothing can be written.
  if ((await faultIn(known, dataDir, signal)) === null) return "already-installed";
  const stated = begunRecord(known, dataDir) ?? (await recordOf(known, env, times, signal));
  await requireAccepted(stated, options);
  const lock = lockPath(known, dataDir);
  await makeFolder(dirname(lock));
  const onWait = () => observe({ kind: "waiting", checkpoint: known.name });
  return withLock(lock, times, signal, onWait, async (guarded) => {
    const fault = await faultIn(known, dataDir, guarded);
    if (fault === null) return "already-installed";
    if (inspectCodecLm(known, dataDir).state !== "missing") {
      observe({ kind: "damaged", problem: fault.replace(/: run antiphon[^:]*$/, "") });
    }
    const freeBytes = options.freeBytes ?? freeBytesOf;
    const fetching = { times, env, freeBytes, observe, signal: guarded, keepsParts: true };
    await install(known, dataDir, stated, fetching);
    return "installed";
  });
}

/** What an earlier pull began with, be it on its way or in a folder that is damaged. */
function begunRecord(known: KnownCodecLm, dataDir: string): PulledRecord | null {
  return readRecord(checkpointDir(known, dataDir)) ?? readRecord(begunFolder(known, dataDir));
}

/** Asks the hub what it has now. */
async function recordOf(
  { name, repository: wanted }: KnownCodecLm,
  ...asked: [env: NodeJS.ProcessEnv, times: FileFetching["times"], signal: AbortSignal]
): Promise<PulledRecord> {
  const seen = await lookAtRepository(wanted, ...asked);
  const isStated = seen.files.every(
    ({ path, sizeBytes, sha256, gitSha1 }) =>
      !/\.(safetensors|json|txt)$/.test(path) || (sizeBytes !== null && (sha256 ?? gitSha1) !== null),
  );
  const { repository, revision, licence, licenceLink, files } = isStated
    ? seen
    : await withTree(seen, ...asked);
  return {
    name,
    repository,
    revision,
    licence: spelt(licence),
    licenceUrl: licenceLink ?? `${HUB}/${repository}`,
    files: files.map(({ path, sizeBytes, sha256, gitSha1 }) => ({
      path,
      sizeBytes: sizeBytes ?? 0,
      ...(sha256 === null ? {} : { sha256 }),
      ...(gitSha1 === null ? {} : { gitSha1 }),
    })),
  };
}

async function requireAccepted(
  { repository, licence, licenceUrl, files }: PulledRecord,
  { dataDir, acceptLicence }: HubPullOptions,
): Promise<void> {
  if (await isAccepted(dataDir, repository, licence)) return;
  const sizeBytes = likelyBytes(files);
  const question = {
    repository,
    licence,
    licenceUrl,
    file: "weights, tokenizer and configuration",
    sizeBytes,
  };
  if (!(await acceptLicence(question))) {
    throw new PullError(
      `The licence of ${repository} was not accepted (${licence}, ${licenceUrl}): nothing was fetched.`,
    );
  }
  await accept(dataDir, repository, licence);
}

async function install(
  known: KnownCodecLm,
  dataDir: string,
  stated: PulledRecord,
  fetching: FileFetching,
): Promise<void> {
  const begun = begunFolder(known, dataDir);
  const final = checkpointDir(known, dataDir);
  try {
    await takeBack(final, begun);
    await makeFolder(begun);
    // Another process may have begun meanwhile.
    const record = readRecord(begun) ?? stated;
    await writeRecord(record, begun);
    const files = await fetchAll(known, record, begun, fetching);
    await writeRecord({ ...record, files }, begun);
    await rename(begun, final);
  } catch (error) {
    await rmdir(begun).catch(() => {});
    throw failureOf(known, asDiskError(error, begun));
  }
}

/** A folder that is damaged becomes what is gone on with. */
async function takeBack(final: string, begun: string): Promise<void> {
  try {
    await rename(final, begun);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    if (!["ENOTEMPTY", "EEXIST"].includes(codeOf(error) ?? "")) throw error;
    await rm(begun, { recursive: true, force: true });
    await rename(final, begun);
  }
}

/** @returns what the checkpoint consists of, all of which is in the folder then */
async function fetchAll(
  known: KnownCodecLm,
  record: PulledRecord,
  folder: string,
  fetching: FileFetching,
): Promise<RecordedFile[]> {
  const byPath = new Map(record.files.map((file) => [file.path, file]));
  const read = async (path: string): Promise<string> => {
    await fetchMissing([byPath.get(path)!], record, folder, fetching);
    return await readFile(join(folder, path), "utf8");
  };
  const paths = await checkpointFiles(
    { kind: known.kind, repository: record.repository },
    new Set(byPath.keys()),
    read,
  );
  const files = paths.map((path) => byPath.get(path)!);
  await fetchMissing(files, record, folder, fetching);
  return files;
}

async function fetchMissing(
  files: readonly RecordedFile[],
  record: PulledRecord,
  folder: string,
  fetching: FileFetching,
): Promise<void> {
  const missing: WantedFile[] = [];
  let missingBytes = 0;
  for (const file of files) {
    const target = join(folder, file.path);
    const wanted = wantedFile(file, record);
    if (await isRight(target, wanted, fetching.signal)) continue;
    missing.push(wanted);
    missingBytes += Math.max(0, file.sizeBytes - (await sizeOfPart(target)));
  }
  await requireSpace(folder, missingBytes, fetching.freeBytes);
  for (const file of missing) {
    const target = join(folder, file.path);
    await makeFolder(dirname(target));
    await pullFile(file, target, fetching);
  }
}

/** @throws PullError when the hub did not say what the file is */
function wantedFile(file: RecordedFile, { repository, revision }: PulledRecord): WantedFile {
  const { path, sizeBytes } = file;
  const checksum = checksumOf(file);
  if (sizeBytes === 0 || checksum === null) {
    throw new PullError(
      `The hub states no size or no checksum for ${path} of ${repository}, so a download could not be checked: try again later.`,
    );
  }
  return {
    path,
    sizeBytes,
    ...checksum,
    sources: [{ kind: "hub", repository, revision, path }],
  };
}

function failureOf({ name }: KnownCodecLm, error: unknown): unknown {
  if (error instanceof FullDiskError) {
    return new PullError(
      `The disk that holds ${error.path} is full: make room, or choose another folder with --data-dir. ` +
        `What came is kept; antiphon models pull ${name} goes on from there, and antiphon models rm ${name} removes it.`,
      { cause: error },
    );
  }
  if (!(error instanceof NoSourceError)) return error;
  const kept = error.keptBytes > 0 ? ` (${megabytes(error.keptBytes)} of that file are kept)` : "";
  return new PullError(
    `The checkpoint ${name} could not be fetched${kept}. ${error.message}. ` +
      `Run antiphon models pull ${name} again to go on, or antiphon models rm ${name} to begin with what the hub has today.`,
    { cause: error },
  );
}
