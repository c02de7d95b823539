import type { Hash } from "node:crypto";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { openForResume } from "../../core/replace-file.ts";
import { createFileHash, type ExpectedFile } from "../installed-checkpoint.ts";
import { onDisk } from "./disk.ts";
import { SourceError } from "./pull-error.ts";

/**
 * A file that is on its way, beside its place and under another name (`….part`), so that an unfinished one is never
 * taken for the file. What an earlier pull left is read and hashed when it is opened; what comes is hashed as it is
 * written. Owns a descriptor until it is placed, left or discarded. Failures to write are `PullError`s.
 */
export class PartFile {
  readonly path: string;
  /** Bytes that the finished file has. */
  readonly totalBytes: number;
  readonly #file: Omit<ExpectedFile, "path">;
  readonly #handle: FileHandle;
  readonly #onProgress: (doneBytes: number) => void;
  #hash: Hash;
  #doneBytes = 0;
  #isOpen = true;

  private constructor(
    handle: FileHandle,
    path: string,
    file: Omit<ExpectedFile, "path">,
    onProgress: (n: number) => void,
  ) {
    this.#handle = handle;
    this.#file = file;
    this.#hash = createFileHash(file);
    this.path = path;
    this.totalBytes = file.sizeBytes;
    this.#onProgress = onProgress;
  }

  /** Opens the part of the file at `target`, and hashes what is there, as is stated. */
  static async open(
    target: string,
    file: Omit<ExpectedFile, "path">,
    signal: AbortSignal,
    onProgress: (doneBytes: number) => void = () => {},
  ): Promise<PartFile> {
    const path = `${target}.part`;
    const handle = await onDisk(path, () => openForResume(path));
    const part = new PartFile(handle, path, file, onProgress);
    try {
      await part.#readExisting(signal);
      return part;
    } catch (error) {
      await part.close();
      throw error;
    }
  }

  /** Bytes that are there. */
  get doneBytes(): number {
    return this.#doneBytes;
  }

  get isComplete(): boolean {
    return this.#doneBytes === this.totalBytes;
  }

  /** The hash of what is there, in hex. */
  digest(): string {
    return this.#hash.copy().digest("hex");
  }

  /** Writes what comes next. Throws `SourceError` when it is more than the file has; what is there is no use then. */
  async append(bytes: Uint8Array): Promise<void> {
    if (this.#doneBytes + bytes.length > this.totalBytes) {
      await this.restart();
      throw new SourceError(`it sends more than the ${this.totalBytes} bytes of the file`);
    }
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await onDisk(this.path, () =>
        this.#handle.write(bytes, at, bytes.length - at, this.#doneBytes + at),
      );
      at += bytesWritten;
    }
    this.#hash.update(bytes);
    this.#doneBytes += bytes.length;
    this.#onProgress(this.#doneBytes);
  }

  /** Forgets what is there. */
  async restart(): Promise<void> {
    if (this.#doneBytes === 0) return;
    await onDisk(this.path, () => this.#handle.truncate(0));
    this.#hash = createFileHash(this.#file);
    this.#doneBytes = 0;
    this.#onProgress(0);
  }

  /** Puts the finished file in its place in one step; it is on the disk, not only on its way there, before it is seen. */
  async place(target: string): Promise<void> {
    await onDisk(this.path, () => this.#handle.sync());
    await this.close();
    await onDisk(target, () => rename(this.path, target));
    await syncFolder(dirname(target));
  }

  /** Closes it; what is there stays for another time, unless it is nothing. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#handle.close();
    if (this.#doneBytes === 0) await rm(this.path, { force: true });
  }

  /** Closes and removes it. */
  async discard(): Promise<void> {
    this.#doneBytes = 0;
    if (this.#isOpen) return this.close();
    await rm(this.path, { force: true });
  }

  async #readExisting(signal: AbortSignal): Promise<void> {
    const buffer = Buffer.allocUnsafe(1 << 20);
    const { size } = await this.#handle.stat();
    if (size > this.totalBytes) return onDisk(this.path, () => this.#handle.truncate(0));
    while (this.#doneBytes < size) {
      signal.throwIfAborted();
      const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, this.#doneBytes);
      if (bytesRead === 0) break;
      this.#hash.update(buffer.subarray(0, bytesRead));
      this.#doneBytes += bytesRead;
    }
  }
}

/** Bytes that an earlier pull has left of the file at `target`. */
export async function partBytes(target: string): Promise<number> {
  return stat(`${target}.part`).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Makes a rename last through a power cut, where the system lets folders be synced (Windows does not). */
async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir, "r").catch(() => null);
  if (handle === null) return;
  try {
    await handle.sync().catch(() => {});
  } finally {
    await handle.close();
  }
}
