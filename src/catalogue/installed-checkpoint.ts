import { createHash, type Hash } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import type { CheckpointFile } from "./checkpoint-manifest.ts";
import { codeOf } from "./pull/pull-error.ts";

/** A file of a checkpoint, as far as it can be told whether it is there. */
export type PlacedFile = Pick<CheckpointFile, "path" | "sizeBytes" | "sha256">;

/** What a checkpoint consists of. */
export interface Contents<F extends PlacedFile = PlacedFile> {
  readonly name: string;
  readonly files: readonly F[];
}

/** What there is of a checkpoint in a data directory. */
export interface CheckpointState {
  readonly state: "installed" | "missing" | "damaged";
  /** Bytes of its files that are there. */
  readonly sizeBytes: number;
  /** One sentence with the remedy, unless it is installed. */
  readonly problem: string | null;
}

/** Absolute path of the folder that a checkpoint is installed in. */
export function checkpointDir({ name }: Pick<Contents, "name">, dataDir: string): string {
  return join(dataDir, "checkpoints", name);
}

/** Absolute path of a file of a checkpoint; of its first where none is named. */
export function checkpointFile(
  manifest: Contents,
  dataDir: string,
  file: PlacedFile = manifest.files[0]!,
): string {
  return join(checkpointDir(manifest, dataDir), file.path);
}

/** Looks at the sizes only: within a millisecond, and blind to bytes that have changed in place. */
export async function inspectCheckpoint(manifest: Contents, dataDir: string): Promise<CheckpointState> {
  return stateOf(manifest, dataDir, await wrongFiles(manifest, dataDir, async () => null));
}

/** Reads every byte: about 0.3 s for 100 MB. Throws the signal's reason when it aborts. */
export async function verifyCheckpoint(
  manifest: Contents,
  dataDir: string,
  signal?: AbortSignal,
): Promise<CheckpointState> {
  return stateOf(manifest, dataDir, await brokenFiles(manifest, dataDir, signal));
}

/** A file that is not what it should be. */
export interface BrokenFile<F extends PlacedFile = PlacedFile> {
  readonly file: F;
  readonly path: string;
  /** What is wrong with it; `null` when it is not there at all. */
  readonly fault: string | null;
}

/** The files that are missing or have other bytes than they should. Throws the signal's reason when it aborts. */
export function brokenFiles<F extends PlacedFile>(
  manifest: Contents<F>,
  dataDir: string,
  signal?: AbortSignal,
): Promise<BrokenFile<F>[]> {
  return wrongFiles(manifest, dataDir, async (path, { sha256 }) => {
    const got = await sha256OfFile(path, signal);
    return got === sha256 ? null : `has the SHA-256 ${got} instead of ${sha256}`;
  });
}

/** Whether every file is there and has its size. */
export async function isInstalled(manifest: Contents, dataDir: string): Promise<boolean> {
  return (await inspectCheckpoint(manifest, dataDir)).state === "installed";
}

/** The SHA-256 of a file, in hex. Throws the signal's reason when it aborts. */
export function sha256OfFile(path: string, signal?: AbortSignal): Promise<string> {
  return digestOfFile(path, createHash("sha256"), signal);
}

/** What a hash comes to over a file, in hex. Throws the signal's reason when it aborts. */
export async function digestOfFile(path: string, hash: Hash, signal?: AbortSignal): Promise<string> {
  const file = await open(path);
  try {
    // One for all of it: a stream's would stay in memory until they are cleared away.
    const piece = Buffer.alloc(PIECE_BYTES);
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(piece, 0, piece.length);
      if (bytesRead === 0) return hash.digest("hex");
      hash.update(piece.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

const PIECE_BYTES = 1 << 18;

async function stateOf(
  manifest: Contents,
  dataDir: string,
  broken: readonly BrokenFile[],
): Promise<CheckpointState> {
  const paths = manifest.files.map((file) => checkpointFile(manifest, dataDir, file));
  const sizes = await Promise.all(paths.map((path) => sizeOf(path).catch(() => null)));
  const sizeBytes = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  const worst = broken.find(({ fault }) => fault !== null) ?? broken[0];
  if (worst === undefined) return { state: "installed", sizeBytes, problem: null };
  const { path, fault } = worst;
  const what = fault === null ? `missing (there is no ${path})` : `damaged (${path} ${fault})`;
  return {
    state: fault === null ? "missing" : "damaged",
    sizeBytes,
    problem: `The weights of ${manifest.name} are ${what}: run antiphon models pull ${manifest.name}.`,
  };
}

/** The files that are missing, have another size than they should, or do not pass the further check. */
async function wrongFiles<F extends PlacedFile>(
  manifest: Contents<F>,
  dataDir: string,
  faultIn: (path: string, file: F) => Promise<string | null>,
): Promise<BrokenFile<F>[]> {
  const broken: BrokenFile<F>[] = [];
  for (const file of manifest.files) {
    const path = checkpointFile(manifest, dataDir, file);
    try {
      const size = await sizeOf(path);
      const isWhole = size === file.sizeBytes;
      const fault = isWhole ? await faultIn(path, file) : `has ${size} bytes instead of ${file.sizeBytes}`;
      if (fault !== null) broken.push({ file, path, fault: size === null ? null : fault });
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined) throw error;
      broken.push({ file, path, fault: `cannot be read (${code})` });
    }
  }
  return broken;
}

/** Bytes of a file or entry, or `null` when it is not there. */
async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
}
