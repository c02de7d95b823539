import { mkdir, statfs } from "node:fs/promises";
import { codeOf, PullError } from "./pull-error.ts";

/** No space, no quota, or beyond the process's limit of file size. */
const FULL = ["ENOSPC", "EDQUOT", "EFBIG"];

const FORBIDDEN = ["EACCES", "EPERM", "EROFS"];

const UNUSABLE = ["ENOTDIR", "EEXIST", "EISDIR", "ENOENT", "EIO", "ENAMETOOLONG", "EMFILE"];

/** Returns the bytes that this process may still write; infinite if unknown. */
export async function freeBytesOf(dir: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(dir);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** @throws PullError if a folder has no room for `bytes` */
export async function requireSpace(
  dir: string,
  bytes: number,
  freeBytes: (dir: string) => Promise<number>,
): Promise<void> {
  const free = await freeBytes(dir);
  if (free >= bytes) return;
  throw new PullError(
    `The disk that holds ${dir} has ${megabytes(free)} free, and ${megabytes(bytes)} are needed: ` +
      "make room, or choose another folder with --data-dir.",
  );
}

/** Creates a folder and its parents. @throws PullError if the disk fails */
export async function makeFolder(dir: string): Promise<void> {
  await onDisk(dir, () => mkdir(dir, { recursive: true }));
}

/** Runs work on a path, and turns file system errors into a {@link PullError} with the remedy. */
export async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asDiskError(error, path);
  }
}

/** Turns a file system error into a {@link PullError} with the remedy; returns any other error unchanged. */
export function asDiskError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  if (FULL.includes(code)) return new FullDiskError(path, { cause: error });
  const remedy = FORBIDDEN.includes(code)
    ? "give this user the right to, or choose another folder with --data-dir"
    : "mend the folder, or choose another one with --data-dir";
  if ([...FORBIDDEN, ...UNUSABLE].includes(code))
    return new PullError(`${path} cannot be written (${code}): ${remedy}.`, { cause: error });
  return error;
}

export class FullDiskError extends PullError {
  readonly path: string;

  constructor(path: string, options: ErrorOptions = {}) {
    super(
      `The disk that holds ${path} is full: make room, or choose another folder with --data-dir; the partial download is removed.`,
      options,
    );
    this.path = path;
  }
}

/** Formats bytes as `98.4 MB`. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
