import { createHash, type Hash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { digestOfFile } from "../core/sha256-of-file.ts";
import { codeOf, isAbsent } from "./download/pull-error.ts";
import { EMBEDDED_CHECKPOINT } from "./public-models.ts";

/** The files of a checkpoint, by its manifest or the record in its folder. */
export interface CheckpointRecord {
  readonly name: string;
  readonly files: readonly ExpectedFile[];
  /** Whether the folder only appeared when complete, so that a missing file was lost. */
  readonly isInstalledAtomically?: boolean;
}

export interface CheckpointState {
  readonly state: "installed" | "missing" | "damaged";
  /** Size of its existing files. */
  readonly sizeBytes: number;
  /** One sentence with the remedy that names a file by its absolute path; `null` if it is installed. */
  readonly problem: string | null;
}

export function checkpointDir({ name }: Pick<CheckpointRecord, "name">, dataDir: string): string {
  return join(dataDir, "checkpoints", name);
}

/** Returns the path of the first file; a writer has only one. */
export function checkpointFile(record: CheckpointRecord, dataDir: string): string {
  return join(checkpointDir(record, dataDir), record.files[0]!.path);
}

/** Checks sizes only, within a millisecond. Does not notice bytes that changed in place. */
export function inspectCheckpoint(
  record: CheckpointRecord | CheckpointState,
  dataDir: string,
): Promise<CheckpointState> {
  return checkFiles(record, dataDir, async () => null);
}

/** Checks sizes, then every byte: about 0.3 s per 100 MB. Throws the signal's reason. */
export function verifyCheckpoint(
  record: CheckpointRecord | CheckpointState,
  dataDir: string,
  signal?: AbortSignal,
): Promise<CheckpointState> {
  return checkFiles(record, dataDir, (path, file) => findDamage(path, file, signal));
}

export function notInstalled(
  { name }: Pick<CheckpointRecord, "name">,
  state: "missing" | "damaged",
  what: string,
  sizeBytes = 0,
): CheckpointState {
  return {
    state,
    sizeBytes,
    problem: `The weights of ${name} are ${what}: run antiphon models pull ${name}.`,
  };
}

async function checkFiles(
  record: CheckpointRecord | CheckpointState,
  dataDir: string,
  faultIn: (path: string, file: ExpectedFile) => Promise<string | null>,
): Promise<CheckpointState> {
  if ("state" in record) return record;
  const dir = checkpointDir(record, dataDir);
  const entries = await Promise.all(record.files.map((file) => checkSize(join(dir, file.path), file)));
  const sizeBytes = entries.reduce((sum, entry) => sum + entry.sizeBytes, 0);
  const damaged = (file: ExpectedFile, fault: string) =>
    notInstalled(record, "damaged", `damaged (${join(dir, file.path)} ${fault})`, sizeBytes);
  const lost = record.files.find((_, at) => entries[at]!.fault === ABSENT);
  for (const [at, file] of record.files.entries()) {
    const { fault } = entries[at]!;
    if (fault !== null && (fault !== ABSENT || record.isInstalledAtomically === true))
      return damaged(file, fault);
  }
  if (lost !== undefined) {
    return notInstalled(record, "missing", `missing (there is no ${lost.path} in ${dir})`, sizeBytes);
  }
  for (const file of record.files) {
    const fault = await faultIn(join(dir, file.path), file);
    if (fault !== null) return damaged(file, fault);
  }
  return { state: "installed", sizeBytes, problem: null };
}

const ABSENT = "does not exist";

async function checkSize(
  path: string,
  file: ExpectedFile,
): Promise<{ readonly sizeBytes: number; readonly fault: string | null }> {
  try {
    const { size: sizeBytes } = await stat(path);
    const isWhole = sizeBytes === file.sizeBytes;
    return { sizeBytes, fault: isWhole ? null : `has ${sizeBytes} bytes instead of ${file.sizeBytes}` };
  } catch (error) {
    return { sizeBytes: 0, fault: isAbsent(error) ? ABSENT : `cannot be read (${codeOf(error)})` };
  }
}

/** The neural voice that is part of the package. */
export const embeddedCheckpoint = {
  name: EMBEDDED_CHECKPOINT,
  dir: fileURLToPath(new URL("../../../voices/heart", import.meta.url)),
  licence: "Apache-2.0",
};

/** Returns the bytes of all files in a folder and below; `null` if there is no such folder. */
export async function sizeOnDisk(dir: string): Promise<number | null> {
  try {
    const files = (await readdir(dir, { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    );
    const sizes = await Promise.all(
      files.map(async (file) => (await stat(join(file.parentPath, file.name))).size),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** What is known of a file before it is fetched. */
export interface ExpectedFile {
  /** Path within the checkpoint's folder. */
  readonly path: string;
  /** 0 if unknown. */
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256?: string;
  /** Git's id of the content, which the hub states for small files in place of a SHA-256. */
  readonly gitSha1?: string;
}

/** Returns whether size and digest are known, so that a download can be checked. */
export function isVerifiable(file: ExpectedFile): boolean {
  return file.sizeBytes > 0 && expectedDigest(file) !== "";
}

/** Git prefixes the content with its kind and size. */
export function createFileHash({ sha256, sizeBytes }: Omit<ExpectedFile, "path">): Hash {
  return sha256 === undefined
    ? createHash("sha1").update(`blob ${sizeBytes}\0`, "latin1")
    : createHash("sha256");
}

/** Returns the expected digest; "" if unknown. */
export function expectedDigest({ sha256, gitSha1 }: Omit<ExpectedFile, "path">): string {
  return sha256 ?? gitSha1 ?? "";
}

export function digestName({ sha256 }: ExpectedFile): string {
  return sha256 === undefined ? "Git object id" : "SHA-256";
}

/** Returns what is wrong with a file's bytes; `null` if nothing is. Throws the signal's reason. */
async function findDamage(path: string, file: ExpectedFile, signal?: AbortSignal): Promise<string | null> {
  if (!isVerifiable(file)) return "has no known checksum";
  try {
    const got = await digestOfFile(path, createFileHash(file), signal);
    return got === expectedDigest(file)
      ? null
      : `has the ${digestName(file)} ${got} instead of ${expectedDigest(file)}`;
  } catch (error) {
    signal?.throwIfAborted();
    return `cannot be read (${codeOf(error) ?? "it broke off"})`;
  }
}

/** Returns whether a file exists and has the expected bytes. Throws the signal's reason. */
export async function isIntact(path: string, file: ExpectedFile, signal: AbortSignal): Promise<boolean> {
  const entry = await stat(path).catch(() => null);
  return entry?.size === file.sizeBytes && (await findDamage(path, file, signal)) === null;
}
