import { link, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeJson } from "../files/write-json.ts";
import { type CheckpointManifest, parseManifest } from "./checkpoint-manifest.ts";
import { checkpointDir } from "./installed-checkpoint.ts";
import { asDiskError, onDisk } from "./pull/disk.ts";
import { codeOf, isAbsent, messageOf, PullError } from "./pull/pull-error.ts";

/** A folder of a data directory that says itself what checkpoint it is; its files may be there or still to come. */
export interface OwnManifest {
  readonly name: string;
  /** `null` when it cannot be read. */
  readonly manifest: CheckpointManifest | null;
  /** One sentence with the remedy, where it cannot be. */
  readonly problem: string | null;
}

const FILE = "manifest.json";

/** What was pulled into a data directory by a name that no manifest of the package has, by name. */
export async function ownManifests(dataDir: string): Promise<OwnManifest[]> {
  const root = join(dataDir, "checkpoints");
  const names = await readdir(root).catch((error: unknown) => {
    if (isAbsent(error)) return [];
    throw asDiskError(error, root);
  });
  const all = await Promise.all(names.sort().map((name) => ownManifest(name, dataDir)));
  return all.filter((own) => own !== null);
}

/** The one of that name, or `null`. */
export async function ownManifest(name: string, dataDir: string): Promise<OwnManifest | null> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) return null;
  const path = join(checkpointDir({ name }, dataDir), FILE);
  try {
    const manifest = parseManifest(await readFile(path, "utf8"), path);
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
export async function fixManifest(
  manifest: CheckpointManifest,
  dataDir: string,
): Promise<CheckpointManifest> {
  const path = join(checkpointDir(manifest, dataDir), FILE);
  await onDisk(path, async () => {
    await mkdir(dirname(path), { recursive: true });
    // Unlike a rename, a link never replaces what another process has just put there.
    await writeJson(path, manifest, link).catch((error: unknown) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
  });
  const own = await ownManifest(manifest.name, dataDir);
  if (own?.manifest) return own.manifest;
  throw new PullError(own?.problem ?? `${path} was removed meanwhile: pull it again.`);
}

/** Removes a folder in which there is a manifest and nothing that it promises, not even a beginning. */
export async function forgetEmpty(manifest: CheckpointManifest, dataDir: string): Promise<void> {
  const dir = checkpointDir(manifest, dataDir);
  const entries = await readdir(dir).catch(() => []);
  if (entries.length === 1 && entries[0] === FILE) await rm(dir, { recursive: true, force: true });
}
