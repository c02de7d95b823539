import { readFile, rename, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { asDiskError, FullDiskError, makeFolder, megabytes } from "../download/disk.ts";
import { type HubPullOptions, requireAccepted } from "../download/hub/accepted-licences.ts";
import { HUB } from "../download/hub/hub-access.ts";
import { spelt } from "../download/hub/hub-manifest.ts";
import { lookAtRepository, withTree } from "../download/hub/hub-repository.ts";
import type { Fetching } from "../download/options.ts";
import { begunFolder, type Outcome, pullBy } from "../download/pull.ts";
import { codeOf, PullError } from "../download/pull-error.ts";
import { NoSourceError, pullMissing, type WantedFile } from "../download/pull-file.ts";
import { codecLmRecord, type HubRecord, readHubRecord, writeHubRecord } from "../folder-records.ts";
import { checkpointDir, verifyCheckpoint } from "../installed-checkpoint.ts";
import { isStated, type StatedFile } from "../stated-file.ts";
import { checkpointFiles, likelyBytes } from "./checkpoint-files.ts";
import type { KnownCodecLm } from "./known-checkpoints.ts";

/**
 * Sees to it that a codec language model is installed, byte for byte as the hub has it at one commit: the one that `main`
 * is at when the pull begins, whatever becomes of it until the last file is there. What came is kept when a pull is cut off,
 * also where the disk is full, and the next goes on with it. The folder appears when it is whole.
 *
 * @throws PullError, in one or two sentences with the remedy; the signal's reason.
 */
export function pullCodecLm(known: KnownCodecLm, options: HubPullOptions): Promise<Outcome> {
  const { dataDir } = options;
  const folders = { begun: begunFolder(known, dataDir), final: checkpointDir(known, dataDir) };
  let record: HubRecord;
  return pullBy(
    {
      verify: async (signal) => verifyCheckpoint(await codecLmRecord(known, dataDir), dataDir, signal),
      async ask(fetching) {
        // What an earlier pull began with, be it on its way or in a folder that is damaged.
        const begun = (await readHubRecord(folders.final)) ?? (await readHubRecord(folders.begun));
        record = begun ?? (await recordOf(known, fetching));
        const { repository, licence, licenceUrl, files } = record;
        const file = "weights, tokenizer and configuration";
        const question = { repository, licence, licenceUrl, file, sizeBytes: likelyBytes(files) };
        await requireAccepted(question, options);
      },
      install: (fetching) => install(known, folders, record, { ...fetching, keepsParts: true }),
    },
    known,
    options,
  );
}

/** Asks the hub what it has now. */
async function recordOf({ name, repository: wanted }: KnownCodecLm, fetching: Fetching): Promise<HubRecord> {
  const seen = await lookAtRepository(wanted, fetching);
  const isAllStated = seen.files.every(
    (file) => !/\.(safetensors|json|txt)$/.test(file.path) || isStated(file),
  );
  const { repository, revision, licence, licenceLink, files } = isAllStated
    ? seen
    : await withTree(seen, fetching);
  return {
    name,
    repository,
    revision,
    licence: spelt(licence),
    licenceUrl: licenceLink ?? `${HUB}/${repository}`,
    files: [...files],
  };
}

async function install(
  known: KnownCodecLm,
  { begun, final }: { readonly begun: string; readonly final: string },
  stated: HubRecord,
  fetching: Fetching,
): Promise<void> {
  try {
    await takeBack(final, begun);
    await makeFolder(begun);
    // Another process may have begun meanwhile.
    const record = (await readHubRecord(begun)) ?? stated;
    await writeHubRecord(record, begun);
    const files = await fetchAll(known, record, begun, fetching);
    await writeHubRecord({ ...record, files }, begun);
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
  { kind }: KnownCodecLm,
  record: HubRecord,
  folder: string,
  fetching: Fetching,
): Promise<HubRecord["files"]> {
  const byPath = new Map(record.files.map((file) => [file.path, file]));
  const fetched = async (paths: readonly string[]): Promise<HubRecord["files"]> => {
    const files = paths.map((path) => byPath.get(path)!);
    await pullMissing(
      files.map((file) => wantedFile(file, record)),
      folder,
      fetching,
    );
    return files;
  };
  const read = async (path: string): Promise<string> => {
    await fetched([path]);
    return await readFile(join(folder, path), "utf8");
  };
  const { repository } = record;
  return fetched(await checkpointFiles({ kind, repository }, new Set(byPath.keys()), read));
}

/** @throws PullError when the hub did not say what the file is */
function wantedFile(file: StatedFile, { repository, revision }: HubRecord): WantedFile {
  const { path } = file;
  if (isStated(file)) return { ...file, sources: [{ kind: "hub", repository, revision, path }] };
  throw new PullError(
    `The hub states no size or no checksum for ${path} of ${repository}, so a download could not be checked: try again later.`,
  );
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
  const kept = error.keptBytes > 0 ? ` (${megabytes(error.keptBytes)} of it are kept)` : "";
  return new PullError(
    `The checkpoint ${name} could not be fetched. ${error.path} from ${error.message}${kept}. ` +
      `Run antiphon models pull ${name} again to go on, or antiphon models rm ${name} to begin with what the hub has today.`,
    { cause: error },
  );
}
