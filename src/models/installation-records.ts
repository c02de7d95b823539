import { link, mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import Type, { type Static } from "typebox";
import { Check } from "typebox/schema";
import { writeJson } from "../core/replace-file.ts";
import {
  GIT_SHA1,
  parseWriterManifest,
  REPOSITORY,
  SAFE_NAME,
  SHA256,
  type WriterManifest,
} from "./checkpoint-manifest.ts";
import { asDiskError, onDisk } from "./download/disk.ts";
import { isHubPath } from "./download/hub-name.ts";
import { codeOf, isAbsent, messageOf, PullError } from "./download/pull-error.ts";
import {
  type CheckpointRecord,
  type CheckpointState,
  checkpointDir,
  inspectCheckpoint,
  notInstalled,
} from "./installed-checkpoint.ts";
import { findCodecLm } from "./known-hub-models.ts";

/**
 * `installed.json`: what a conversion made of which weights. Written last, so the files it lists are complete. Files
 * are checked against it because other weights or another version of Antiphon yield other bytes.
 */
const RecogniserReceipt = Type.Object({
  name: Type.String(),
  /** Version of the conversion. */
  version: Type.Integer(),
  /** Where the weights are from, in plain words. */
  origin: Type.String(),
  files: Type.Array(
    Type.Object({
      path: Type.String({ pattern: SAFE_NAME }),
      sizeBytes: Type.Integer({ minimum: 1 }),
      sha256: Type.String({ pattern: SHA256 }),
    }),
    { minItems: 1 },
  ),
});

export type RecogniserReceipt = Static<typeof RecogniserReceipt>;

type Named = Pick<CheckpointRecord, "name">;

function receiptPath(named: Named, dataDir: string): string {
  return join(checkpointDir(named, dataDir), "installed.json");
}

/** Returns the files that this version of the conversion made, or why they are unknown. */
export async function recogniserRecord(
  named: Named,
  dataDir: string,
  version: number,
): Promise<CheckpointRecord | CheckpointState> {
  const path = receiptPath(named, dataDir);
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    return isAbsent(error)
      ? notInstalled(named, "missing", `missing (there is no ${path})`)
      : notInstalled(named, "damaged", "damaged (installed.json cannot be read)");
  }
  if (!Check(RecogniserReceipt, value) || value.name !== named.name)
    return notInstalled(named, "damaged", "damaged (installed.json is not a valid receipt)");
  return value.version === version
    ? value
    : notInstalled(named, "damaged", "from another version of Antiphon");
}

/** @throws PullError if the disk fails */
export async function writeReceipt(receipt: RecogniserReceipt, dataDir: string): Promise<void> {
  const path = receiptPath(receipt, dataDir);
  await onDisk(path, () => writeJson(path, receipt));
}

export async function removeReceipt(named: Named, dataDir: string): Promise<void> {
  await rm(receiptPath(named, dataDir), { force: true });
}

/** `hub.json`: where a codec language model is from. */
const HubRecord = Type.Object({
  name: Type.String(),
  repository: Type.String({ pattern: REPOSITORY }),
  /** Commit of all files. */
  revision: Type.String({ pattern: GIT_SHA1 }),
  licence: Type.String({ minLength: 1 }),
  licenceUrl: Type.String({ pattern: "^https://" }),
  /**
   * During the pull, all files of the repository at that commit; afterwards, those that the checkpoint consists of.
   */
  files: Type.Array(
    Type.Object({
      path: Type.String({ minLength: 1 }),
      sizeBytes: Type.Integer({ minimum: 0 }),
      sha256: Type.Optional(Type.String({ pattern: SHA256 })),
      gitSha1: Type.Optional(Type.String({ pattern: GIT_SHA1 })),
    }),
    { minItems: 1 },
  ),
});

export type HubRecord = Static<typeof HubRecord>;

const HUB_RECORD = "hub.json";

/** Reads `hub.json`; `null` if it is missing or invalid. */
export async function readHubRecord(folder: string): Promise<HubRecord | null> {
  try {
    const value: unknown = JSON.parse(await readFile(join(folder, HUB_RECORD), "utf8"));
    return Check(HubRecord, value) && value.files.every(({ path }) => isHubPath(path)) ? value : null;
  } catch {
    return null;
  }
}

/** @throws PullError if the disk fails */
export async function writeHubRecord(record: HubRecord, folder: string): Promise<void> {
  const path = join(folder, HUB_RECORD);
  await onDisk(path, () => writeJson(path, record));
}

/** Returns the files of a codec language model, or why they are unknown. */
export async function codecLmRecord(
  named: Named,
  dataDir: string,
): Promise<CheckpointRecord | CheckpointState> {
  const folder = checkpointDir(named, dataDir);
  const record = await readHubRecord(folder);
  if (record !== null) return { name: named.name, files: record.files, isInstalledAtomically: true };
  return (await stat(folder).catch(() => null)) === null
    ? notInstalled(named, "missing", `missing (there is no ${folder})`)
    : notInstalled(named, "damaged", `damaged (${folder} has no valid hub.json)`);
}

/** Returns the folder of a completely installed codec language model, judging by file sizes; else `null`. */
export async function installedCodecLmDir(dataDir: string, name: string): Promise<string | null> {
  const known = findCodecLm(name);
  if (known === undefined) return null;
  const { state } = await inspectCheckpoint(await codecLmRecord(known, dataDir), dataDir);
  return state === "installed" ? checkpointDir(known, dataDir) : null;
}

/** `manifest.json` of a writer pulled from the hub. Its files may still be missing. */
interface LocalManifest {
  readonly name: string;
  /** `null` if it cannot be read. */
  readonly manifest: WriterManifest | null;
  /** Error message with the remedy if it cannot be read. */
  readonly problem: string | null;
}

const MANIFEST = "manifest.json";

/** Returns the local manifests of a data directory, by name. */
export async function readLocalManifests(dataDir: string): Promise<LocalManifest[]> {
  const root = join(dataDir, "checkpoints");
  const names = await readdir(root).catch((error: unknown) => {
    if (isAbsent(error)) return [];
    throw asDiskError(error, root);
  });
  const all = await Promise.all(names.sort().map((name) => readLocalManifest(name, dataDir)));
  return all.filter((local) => local !== null);
}

export async function readLocalManifest(name: string, dataDir: string): Promise<LocalManifest | null> {
  if (!new RegExp(SAFE_NAME).test(name)) return null;
  const path = join(checkpointDir({ name }, dataDir), MANIFEST);
  try {
    const manifest = parseWriterManifest(await readFile(path, "utf8"), path);
    if (manifest.name !== name) throw new Error(`the manifest ${path} is that of ${manifest.name}`);
    return { name, manifest, problem: null };
  } catch (error) {
    if (isAbsent(error)) return null;
    const problem = `The checkpoint ${name} cannot be used, since ${messageOf(error)}: run antiphon models rm ${name}, then pull it again.`;
    return { name, manifest: null, problem };
  }
}

/**
 * Writes the manifest before the first byte is fetched, so that later pulls ask for the same files. An earlier
 * manifest stands and is returned.
 *
 * @throws PullError if an earlier one cannot be read or the disk fails
 */
export async function pinManifest(manifest: WriterManifest, dataDir: string): Promise<WriterManifest> {
  const path = join(checkpointDir(manifest, dataDir), MANIFEST);
  await onDisk(path, async () => {
    await mkdir(dirname(path), { recursive: true });
    // Unlike a rename, a link never replaces a file that another process has just written.
    await writeJson(path, manifest, link).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
  });
  const local = await readLocalManifest(manifest.name, dataDir);
  if (local?.manifest) return local.manifest;
  throw new PullError(local?.problem ?? `${path} was removed meanwhile: pull it again.`);
}

/** Removes a checkpoint's folder if it holds a manifest only. */
export async function removeIfEmpty(manifest: WriterManifest, dataDir: string): Promise<void> {
  const dir = checkpointDir(manifest, dataDir);
  const entries = await readdir(dir).catch(() => []);
  if (entries.length === 1 && entries[0] === MANIFEST) await rm(dir, { recursive: true, force: true });
}
