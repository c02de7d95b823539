import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, rename, rm, writeFile } from "node:fs/promises";

/**
 * Replaces a file atomically: readers see the old content or all of the new one, which is on disk by then. Never
 * writes through a link.
 *
 * @param place moves the finished draft into place; by default, overwrites
 * @param draft path of the unfinished file; by default a random one, so that several may write at once
 * @throws what the file system throws; no draft is left
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array | Iterable<Uint8Array>,
  place = rename,
  draft = `${path}.${randomUUID()}.part`,
): Promise<void> {
  try {
    await rm(draft, { force: true });
    await writeFile(draft, content, { flag: "wx", flush: true });
    await place(draft, path);
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
}

/** Creates a file. Removes any leftover or link of that name first, so nothing is written through a link. */
export async function openNew(path: string, flags = 0): Promise<FileHandle> {
  await rm(path, { force: true });
  return open(path, flags | constants.O_RDWR | constants.O_CREAT | constants.O_EXCL);
}

/** Opens an existing file for reading and writing. Rejects for a symbolic link. */
export function openExisting(path: string, flags = 0): Promise<FileHandle> {
  const { O_RDWR, O_NOFOLLOW = 0 } = constants;
  return open(path, flags | O_RDWR | O_NOFOLLOW);
}

/** Opens an existing file, or creates it if it is missing or a symbolic link. */
export async function openForResume(path: string): Promise<FileHandle> {
  return openExisting(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" && error.code !== "ELOOP") throw error;
    return openNew(path);
  });
}

/** Writes indented JSON by {@link replaceFile}. */
export function writeJson(path: string, value: unknown, place?: typeof rename): Promise<void> {
  return replaceFile(path, `${JSON.stringify(value, null, 2)}\n`, place);
}
