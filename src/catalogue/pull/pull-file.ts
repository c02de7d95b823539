import { dirname } from "node:path";
import type { CheckpointFile, CheckpointSource } from "../checkpoint-manifest.ts";
import { type Checksum, hashName, newHash, rightDigest } from "../checksum.ts";
import { requireSpace } from "./disk.ts";
import type { PullObserver } from "./observer.ts";
import { PartFile } from "./part-file.ts";
import { PullError, SourceError } from "./pull-error.ts";
import { describeSource, fetchFrom, spaceNeeded } from "./sources.ts";
import type { PullTimes } from "./times.ts";

/** A file of which somebody has said what it must be, byte for byte. */
export type WantedFile = Pick<CheckpointFile, "path" | "sizeBytes" | "sources"> & Checksum;

/** What a file is fetched with. */
export interface FileFetching {
  readonly times: PullTimes;
  readonly env: NodeJS.ProcessEnv;
  readonly freeBytes: (dir: string) => Promise<number>;
  readonly observe: PullObserver;
  readonly signal: AbortSignal;
  /** Whether what came of a file stays for another time when the disk fails, too: for files of gigabytes. */
  readonly keepsParts?: boolean;
}

/** Why each source failed, in the order in which they were asked, and how much is kept for another time. */
export class NoSourceError extends Error {
  override readonly name = "NoSourceError";
  readonly keptBytes: number;

  constructor(failures: readonly string[], keptBytes: number) {
    super(failures.join("; "));
    this.keptBytes = keptBytes;
  }
}

/**
 * Gets a file from the first source that has it and puts it at `target`. A part that an earlier pull left is gone on
 * with. What stays after a failure is a part that can be gone on with, or nothing.
 *
 * @throws NoSourceError when every source fails; PullError when the disk does; the signal's reason.
 */
export async function pullFile(file: WantedFile, target: string, fetching: FileFetching): Promise<void> {
  const { observe, signal } = fetching;
  const { sizeBytes: totalBytes } = file;
  const onProgress = (doneBytes: number) => observe({ kind: "progress", doneBytes, totalBytes });
  const part = await PartFile.open(target, totalBytes, signal, onProgress, () => newHash(file, totalBytes));
  try {
    if (!(await isRight(part, file))) await askSources(file, part, fetching);
    await part.place(target);
    observe({ kind: "placed", file: file.path, path: target });
  } catch (error) {
    if (error instanceof PullError && !signal.aborted && fetching.keepsParts !== true) await part.discard();
    throw error;
  } finally {
    await part.leave();
  }
}

async function askSources(file: WantedFile, part: PartFile, fetching: FileFetching): Promise<void> {
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
  throw new NoSourceError(failures, part.doneBytes);
}

async function askSource(
  file: WantedFile,
  source: CheckpointSource,
  name: string,
  part: PartFile,
  { times, env, freeBytes, observe, signal }: FileFetching,
): Promise<void> {
  const onRetry = (problem: string, delayMs: number) =>
    observe({ kind: "retry", source: name, problem, delayMs });
  for (;;) {
    const { doneBytes, totalBytes } = part;
    await requireSpace(dirname(part.path), spaceNeeded(source, part), freeBytes);
    observe({ kind: "source", file: file.path, source: name, doneBytes, totalBytes });
    await fetchFrom(source, part, { times, env, signal, onRetry });
    const got = part.digest();
    if (await isRight(part, file)) return;
    const problem = `the ${hashName(file)} of what it sent is ${got} instead of ${rightDigest(file)}`;
    // Where there was a beginning from elsewhere, the source deserves to be heard alone.
    if (doneBytes === 0 || source.kind === "pip") throw new SourceError(problem);
    onRetry("what an earlier pull left does not fit what came after it", 0);
  }
}

/** Whether the part is the file. One that is complete and wrong is emptied. */
async function isRight(part: PartFile, file: WantedFile): Promise<boolean> {
  if (!part.isComplete) return false;
  if (part.digest() === rightDigest(file)) return true;
  await part.restart();
  return false;
}
