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
 * What was made of a recogniser's weights, and of which: written last, so that what it names is whole. It is what the
 * files are held against, since other weights, or another version of Antiphon, make other bytes. A recogniser's own files
 * may say the same of each other; but the catalogue installs and checks what any conversion makes, without knowing how to
 * read it.
 */
const RecogniserReceipt = Type.Object({
  name: Type.String(),
  /** Of the conversion. */
  version: Type.Integer(),
  /** Plain words. */
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

/** What a recogniser's folder says of itself. */
export type RecogniserReceipt = Static<typeof RecogniserReceipt>;

type Named = Pick<CheckpointRecord, "name">;

function receiptPath(named: Named, dataDir: string): string {
  return join(checkpointDir(named, dataDir), "installed.json");
}

/** What a recogniser consists of, as that version of the conversion made it; or how it comes that nobody knows. */
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
    return notInstalled(named, "damaged", "damaged (installed.json says nothing)");
  return value.version === version
    ? value
    : notInstalled(named, "damaged", "those of another version of Antiphon");
}

/** Says what a recogniser's folder holds. @throws PullError when the disk fails. */
export async function writeReceipt(receipt: RecogniserReceipt, dataDir: string): Promise<void> {
  const path = receiptPath(receipt, dataDir);
  await onDisk(path, () => writeJson(path, receipt));
}

/** Takes back what a folder says of itself, so that nobody takes what is in it for whole. */
export async function removeReceipt(named: Named, dataDir: string): Promise<void> {
  await rm(receiptPath(named, dataDir), { force: true });
}

/** Where a codec language model is from. */
const HubRecord = Type.Object({
  name: Type.String(),
  repository: Type.String({ pattern: REPOSITORY }),
  /** The commit that every file is of. */
  revision: Type.String({ pattern: GIT_SHA1 }),
  licence: Type.String({ minLength: 1 }),
  licenceUrl: Type.String({ pattern: "^https://" }),
  /**
   * While it is fetched, all that the repository has at that commit, as the hub states it; once it is installed, what it
   * consists of.
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

/** What a codec language model's folder says of itself. */
export type HubRecord = Static<typeof HubRecord>;

const HUB_RECORD = "hub.json";

/** What a folder says of itself; `null` when it says nothing of use. */
export async function readHubRecord(folder: string): Promise<HubRecord | null> {
  try {
    const value: unknown = JSON.parse(await readFile(join(folder, HUB_RECORD), "utf8"));
    return Check(HubRecord, value) && value.files.every(({ path }) => isHubPath(path)) ? value : null;
  } catch {
    return null;
  }
}

/** @throws PullError when the disk fails. */
export async function writeHubRecord(record: HubRecord, folder: string): Promise<void> {
  const path = join(folder, HUB_RECORD);
  await onDisk(path, () => writeJson(path, record));
}

/** What a codec language model consists of; or how it comes that nobody knows. */
export async function codecLmRecord(
  named: Named,
  dataDir: string,
): Promise<CheckpointRecord | CheckpointState> {
  const folder = checkpointDir(named, dataDir);
  const record = await readHubRecord(folder);
  if (record !== null) return { name: named.name, files: record.files, isInstalledAtomically: true };
  return (await stat(folder).catch(() => null)) === null
    ? notInstalled(named, "missing", `missing (there is no ${folder})`)
    : notInstalled(named, "damaged", `damaged (${folder} does not say what it consists of)`);
}

/**
 * Absolute path of the folder that a known checkpoint was pulled into, or `null` when there is none, or not all of it.
 * Looks at sizes alone.
 */
export async function installedCodecLmDir(dataDir: string, name: string): Promise<string | null> {
  const known = findCodecLm(name);
  if (known === undefined) return null;
  const { state } = await inspectCheckpoint(await codecLmRecord(known, dataDir), dataDir);
  return state === "installed" ? checkpointDir(known, dataDir) : null;
}

/** A folder of a data directory that says itself what checkpoint it is; its files may be there or still to come. */
export interface LocalManifest {
  readonly name: string;
  /** `null` when it cannot be read. */
  readonly manifest: WriterManifest | null;
  /** One sentence with the remedy, where it cannot be. */
  readonly problem: string | null;
}

const MANIFEST = "manifest.json";

/** What was pulled into a data directory by a name that no manifest of the package has, by name. */
export async function readLocalManifests(dataDir: string): Promise<LocalManifest[]> {
  const root = join(dataDir, "checkpoints");
  const names = await readdir(root).catch((error: unknown) => {
    if (isAbsent(error)) return [];
    throw asDiskError(error, root);
  });
  const all = await Promise.all(names.sort().map((name) => readLocalManifest(name, dataDir)));
  return all.filter((own) => own !== null);
}

/** The one of that name, or `null`. */
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
 * Fixes what a folder is to be, before the first byte of it is fetched, so that whoever goes on later asks for the same.
 * Gives what was fixed: an earlier manifest stands.
 *
 * @throws PullError when an earlier one cannot be read, or the disk fails.
 */
export async function pinManifest(manifest: WriterManifest, dataDir: string): Promise<WriterManifest> {
  const path = join(checkpointDir(manifest, dataDir), MANIFEST);
  await onDisk(path, async () => {
    await mkdir(dirname(path), { recursive: true });
    // Unlike a rename, a link never replaces what another process has just put there.
    await writeJson(path, manifest, link).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
  });
  const own = await readLocalManifest(manifest.name, dataDir);
  if (own?.manifest) return own.manifest;
  throw new PullError(own?.problem ?? `${path} was removed meanwhile: pull it again.`);
}

/** Removes a folder in which there is a manifest and nothing that it promises, not even a beginning. */
export async function removeIfEmpty(manifest: WriterManifest, dataDir: string): Promise<void> {
  const dir = checkpointDir(manifest, dataDir);
  const entries = await readdir(dir).catch(() => []);
  if (entries.length === 1 && entries[0] === MANIFEST) await rm(dir, { recursive: true, force: true });
}
