import { createHash, type Hash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { digestOfFile } from "../core/sha256-of-file.ts";
import { codeOf, isAbsent } from "./download/pull-error.ts";
import { EMBEDDED_CHECKPOINT } from "./public-models.ts";

/** What a checkpoint has to consist of: by its manifest, or by what its folder says of itself. */
export interface CheckpointRecord {
  readonly name: string;
  readonly files: readonly ExpectedFile[];
  /** Whether its folder appeared when it was whole, so that a file that is not there was lost. */
  readonly isInstalledAtomically?: boolean;
}

/** What there is of a checkpoint in a data directory. */
export interface CheckpointState {
  readonly state: "installed" | "missing" | "damaged";
  /** Bytes of its files that are there. */
  readonly sizeBytes: number;
  /** One sentence with the remedy, which names a file by its absolute path; `null` when it is installed. */
  readonly problem: string | null;
}

/** Absolute path of the folder that a checkpoint is installed in. */
export function checkpointDir({ name }: Pick<CheckpointRecord, "name">, dataDir: string): string {
  return join(dataDir, "checkpoints", name);
}

/** Absolute path of a checkpoint's first file: of a writer, the only one. */
export function checkpointFile(record: CheckpointRecord, dataDir: string): string {
  return join(checkpointDir(record, dataDir), record.files[0]!.path);
}

/** Looks at the sizes only: within a millisecond, and blind to bytes that have changed in place. */
export function inspectCheckpoint(
  record: CheckpointRecord | CheckpointState,
  dataDir: string,
): Promise<CheckpointState> {
  return checkFiles(record, dataDir, async () => null);
}

/** Reads every byte, if the sizes are right: about 0.3 s for 100 MB. Throws the signal's reason when it aborts. */
export function verifyCheckpoint(
  record: CheckpointRecord | CheckpointState,
  dataDir: string,
  signal?: AbortSignal,
): Promise<CheckpointState> {
  return checkFiles(record, dataDir, (path, file) => findDamage(path, file, signal));
}

/** The state of a checkpoint that is not installed. */
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

const ABSENT = "is not there";

/** How large a file is, and what of that is wrong. */
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

/** The neural voice that comes with the package, where it lies beside the compiled program. */
export const embeddedCheckpoint = {
  name: EMBEDDED_CHECKPOINT,
  /** Absolute path of its folder. */
  dir: fileURLToPath(new URL("../../../voices/heart", import.meta.url)),
  /** SPDX identifier. */
  licence: "Apache-2.0",
};

/** Bytes of all files in the folder and below, or `null` when there is no such folder. */
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

/** What somebody has stated of a file of a checkpoint: what it must be, byte for byte. */
export interface ExpectedFile {
  /** Within the checkpoint's folder, with the folders between. */
  readonly path: string;
  /** 0 where nobody said. */
  readonly sizeBytes: number;
  /** In lower-case hex. */
  readonly sha256?: string;
  /** The name that Git has for its bytes, in place of a SHA-256: what is stated of small files on the hub. */
  readonly gitSha1?: string;
}

/** Whether enough is stated of a file for a download to be checked. */
export function isVerifiable(file: ExpectedFile): boolean {
  return file.sizeBytes > 0 && expectedDigest(file) !== "";
}

/** Begins to hash a file. Git hashes its kind and size first. */
export function createFileHash({ sha256, sizeBytes }: Omit<ExpectedFile, "path">): Hash {
  return sha256 === undefined
    ? createHash("sha1").update(`blob ${sizeBytes}\0`, "latin1")
    : createHash("sha256");
}

/** What the hash has to come to; empty where nobody said. */
export function expectedDigest({ sha256, gitSha1 }: Omit<ExpectedFile, "path">): string {
  return sha256 ?? gitSha1 ?? "";
}

/** What the hash is called. */
export function digestName({ sha256 }: ExpectedFile): string {
  return sha256 === undefined ? "Git object id" : "SHA-256";
}

/** What is wrong with the bytes of the file that lies there; `null` when nothing is. Throws the signal's reason. */
export async function findDamage(
  path: string,
  file: ExpectedFile,
  signal?: AbortSignal,
): Promise<string | null> {
  if (!isVerifiable(file)) return "is of unknown bytes";
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

/** Whether the file is there, byte for byte. What cannot be read is as good as not there. Throws the signal's reason. */
export async function isIntact(path: string, file: ExpectedFile, signal: AbortSignal): Promise<boolean> {
  const entry = await stat(path).catch(() => null);
  return entry?.size === file.sizeBytes && (await findDamage(path, file, signal)) === null;
}
