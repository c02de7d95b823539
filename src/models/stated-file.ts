import { createHash, type Hash } from "node:crypto";
import { stat } from "node:fs/promises";
import { digestOfFile } from "../core/sha256-of-file.ts";
import { codeOf } from "./download/pull-error.ts";

/** What somebody has stated of a file of a checkpoint: what it must be, byte for byte. */
export interface StatedFile {
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
export function isStated(file: StatedFile): boolean {
  return file.sizeBytes > 0 && rightDigest(file) !== "";
}

/** Begins to hash a file. Git hashes its kind and size first. */
export function newHash({ sha256, sizeBytes }: Omit<StatedFile, "path">): Hash {
  return sha256 === undefined
    ? createHash("sha1").update(`blob ${sizeBytes}\0`, "latin1")
    : createHash("sha256");
}

/** What the hash has to come to; empty where nobody said. */
export function rightDigest({ sha256, gitSha1 }: Omit<StatedFile, "path">): string {
  return sha256 ?? gitSha1 ?? "";
}

/** What the hash is called. */
export function hashName({ sha256 }: StatedFile): string {
  return sha256 === undefined ? "Git object id" : "SHA-256";
}

/** What is wrong with the bytes of the file that lies there; `null` when nothing is. Throws the signal's reason. */
export async function wrongBytes(
  path: string,
  file: StatedFile,
  signal?: AbortSignal,
): Promise<string | null> {
  if (!isStated(file)) return "is of unknown bytes";
  try {
    const got = await digestOfFile(path, newHash(file), signal);
    return got === rightDigest(file)
      ? null
      : `has the ${hashName(file)} ${got} instead of ${rightDigest(file)}`;
  } catch (error) {
    signal?.throwIfAborted();
    return `cannot be read (${codeOf(error) ?? "it broke off"})`;
  }
}

/** Whether the file is there, byte for byte. What cannot be read is as good as not there. Throws the signal's reason. */
export async function isRight(path: string, file: StatedFile, signal: AbortSignal): Promise<boolean> {
  const entry = await stat(path).catch(() => null);
  return entry?.size === file.sizeBytes && (await wrongBytes(path, file, signal)) === null;
}
