import type { Hash } from "node:crypto";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { openForResume } from "../../core/replace-file.ts";
import { createFileHash, type ExpectedFile } from "../installed-checkpoint.ts";
import { onDisk } from "./disk.ts";
import { SourceError } from "./pull-error.ts";

/**
 * An unfinished file (`….part`) next to its final place. Existing bytes are hashed when it is opened, new ones when
 * they are written. Owns a descriptor until placed, closed or discarded. Write failures are `PullError`s.
 */
export class PartFile {
  readonly path: string;
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

  /** Opens the part of the file at `target`. */
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

  get doneBytes(): number {
    return this.#doneBytes;
  }

  get isComplete(): boolean {
    return this.#doneBytes === this.totalBytes;
  }

  /** Returns the digest of the bytes so far, in hex. */
  digest(): string {
    return this.#hash.copy().digest("hex");
  }

  /** Appends bytes. Throws `SourceError` if they exceed the file's size; the part is emptied then. */
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

  /** Empties the part. */
  async restart(): Promise<void> {
    if (this.#doneBytes === 0) return;
    await onDisk(this.path, () => this.#handle.truncate(0));
    this.#hash = createFileHash(this.#file);
    this.#doneBytes = 0;
    this.#onProgress(0);
  }

  /** Moves the finished file to its place atomically, after a sync. */
  async place(target: string): Promise<void> {
    await onDisk(this.path, () => this.#handle.sync());
    await this.close();
    await onDisk(target, () => rename(this.path, target));
    await syncFolder(dirname(target));
  }

  /** Closes the part and keeps it, unless it is empty. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#handle.close();
    if (this.#doneBytes === 0) await rm(this.path, { force: true });
  }

  /** Closes and removes the part. */
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

/** Returns the bytes that an earlier pull left of the file at `target`. */
export async function partBytes(target: string): Promise<number> {
  return stat(`${target}.part`).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Makes a rename survive a power cut, where folders can be synced (not on Windows). */
async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir, "r").catch(() => null);
  if (handle === null) return;
  try {
    await handle.sync().catch(() => {});
  } finally {
    await handle.close();
  }
}
