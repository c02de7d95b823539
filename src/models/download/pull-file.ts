import { dirname, join } from "node:path";
import type { CheckpointSource } from "../checkpoint-manifest.ts";
import {
  digestName,
  type ExpectedFile,
  expectedDigest,
  isIntact,
  isVerifiable,
} from "../installed-checkpoint.ts";
import { makeFolder, requireSpace } from "./disk.ts";
import { fetchOverHttp, type HttpSource, type OnRetry } from "./http-download.ts";
import { hostOf, hubAccess, hubHost, tokenRemedy } from "./hub-repository.ts";
import type { FetchContext } from "./options.ts";
import { PartFile, partBytes } from "./part-file.ts";
import { PullError, SourceError } from "./pull-error.ts";

export interface WantedFile extends ExpectedFile {
  /** In the order in which they are tried. */
  readonly sources: readonly CheckpointSource[];
}

/** All sources failed; the message has the reasons, in order. */
export class NoSourceError extends Error {
  override readonly name = "NoSourceError";
  /** Path within the checkpoint; `null` if no file was requested yet. */
  readonly path: string | null;
  /** Bytes of the file that are kept for the next pull. */
  readonly keptBytes: number;

  constructor(
    failures: readonly string[],
    { path = null, keptBytes = 0, cause }: { path?: string | null; keptBytes?: number; cause?: unknown },
  ) {
    super(failures.join("; "), { cause });
    this.path = path;
    this.keptBytes = keptBytes;
  }
}

/**
 * Fetches the files that a folder lacks, once it has room for them and for
 * `reservedBytes`. @throws as {@link pullFile}
 */
export async function pullMissing(
  files: readonly WantedFile[],
  folder: string,
  fetching: FetchContext,
): Promise<void> {
  const missing: WantedFile[] = [];
  let missingBytes = 0;
  for (const file of files) {
    const target = join(folder, file.path);
    if (await isIntact(target, file, fetching.signal)) continue;
    missing.push(file);
    missingBytes += Math.max(0, file.sizeBytes - (await partBytes(target)));
  }
  await requireSpace(folder, missingBytes + (fetching.reservedBytes ?? 0), fetching.freeBytes);
  for (const file of missing) {
    const target = join(folder, file.path);
    await makeFolder(dirname(target));
    await pullFile(file, target, fetching);
  }
}

/**
 * Fetches a file from the first source that has it, resuming an earlier part. After a failure, only a valid part
 * remains.
 *
 * @throws NoSourceError if every source fails; PullError if the disk fails; the signal's reason
 */
async function pullFile(file: WantedFile, target: string, fetching: FetchContext): Promise<void> {
  const { observe, signal } = fetching;
  const { sizeBytes: totalBytes } = file;
  const onProgress = (doneBytes: number) => observe({ kind: "progress", doneBytes, totalBytes });
  const part = await PartFile.open(target, file, signal, onProgress);
  try {
    if (!(await isComplete(part, file))) await askSources(file, part, fetching);
    await part.place(target);
    observe({ kind: "placed", file: file.path, path: target });
  } catch (error) {
    if (error instanceof PullError && !signal.aborted && fetching.keepsParts !== true) await part.discard();
    throw error;
  } finally {
    await part.close();
  }
}

async function askSources(file: WantedFile, part: PartFile, fetching: FetchContext): Promise<void> {
  const failures: string[] = [];
  for (const source of file.sources) {
    const name = describeSource(source, fetching.env);
    try {
      return await askSource(file, source, name, part, fetching);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      failures.push(`${name}: ${error.message}`);
      fetching.observe({ kind: "source-failed", source: name, problem: error.message });
    }
  }
  throw new NoSourceError(failures, { path: file.path, keptBytes: part.doneBytes });
}

async function askSource(
  file: WantedFile,
  source: CheckpointSource,
  name: string,
  part: PartFile,
  fetching: FetchContext,
): Promise<void> {
  const { freeBytes, observe } = fetching;
  const onRetry = (problem: string, delayMs: number) =>
    observe({ kind: "retry", source: name, problem, delayMs });
  for (;;) {
    const { doneBytes, totalBytes } = part;
    await requireSpace(dirname(part.path), totalBytes - doneBytes, freeBytes);
    observe({ kind: "source", file: file.path, source: name, doneBytes, totalBytes });
    await fetchFrom(source, part, fetching, onRetry);
    const got = part.digest();
    if (await isComplete(part, file)) return;
    const problem = `the ${digestName(file)} of what it sent is ${got} instead of ${expectedDigest(file)}`;
    // The beginning came from elsewhere: try this source alone.
    if (doneBytes === 0) throw new SourceError(problem);
    onRetry("the earlier partial download does not match the rest", 0);
  }
}

/** Returns whether the part is the expected file. Empties it if it is complete but wrong. */
async function isComplete(part: PartFile, file: WantedFile): Promise<boolean> {
  if (!part.isComplete) return false;
  if (part.digest() === expectedDigest(file)) return true;
  await part.restart();
  return false;
}

/** @throws as {@link fetchOverHttp} does */
async function fetchFrom(
  source: CheckpointSource,
  part: PartFile,
  { times, env, signal }: FetchContext,
  onRetry: OnRetry,
): Promise<void> {
  const address = addressOf(source, env);
  try {
    await fetchOverHttp(address, part, times, signal, onRetry);
  } catch (error) {
    if (source.kind !== "hub" || !(error instanceof SourceError)) throw error;
    if (error.status !== 401 && error.status !== 403) throw error;
    const remedy = tokenRemedy(source.repository, hubAccess(env), error.status);
    throw new SourceError(`${error.message}: ${remedy}`, { status: error.status, cause: error });
  }
}

function describeSource(source: CheckpointSource, env: NodeJS.ProcessEnv): string {
  return source.kind === "hub" ? hubHost(env) : hostOf(source.url);
}

function addressOf(source: CheckpointSource, env: NodeJS.ProcessEnv): HttpSource {
  if (source.kind === "https") return { url: source.url, headers: {} };
  const { endpoint, headers } = hubAccess(env);
  const path = source.path.split("/").map(encodeURIComponent).join("/");
  return { url: `${endpoint}/${source.repository}/resolve/${source.revision}/${path}`, headers };
}

/** Returns a file of the hub with its source. @throws PullError if the hub did not state size or digest */
export function hubFile(
  file: ExpectedFile,
  { repository, revision }: { readonly repository: string; readonly revision: string },
): WantedFile {
  const { path } = file;
  if (isVerifiable(file)) return { ...file, sources: [{ kind: "hub", repository, revision, path }] };
  throw new PullError(
    `The hub states no size or no checksum for ${path} of ${repository}, so a download could not be checked: try again later.`,
  );
}

/** Reports failures of a source, and adds its name to their messages. */
export async function withSourceName(
  source: string,
  { observe }: FetchContext,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    observe({ kind: "source-failed", source, problem: error.message });
    throw new SourceError(`${source}: ${error.message}`, { cause: error });
  }
}
