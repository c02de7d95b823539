import { constants } from "node:fs";
import { type FileHandle, lstat, rename, rm } from "node:fs/promises";
import { openExisting, openNew } from "../../core/replace-file.ts";

/** File that grows as `NAME.part` and is renamed when complete. */
export class PartialFile {
  readonly #file: string;
  readonly #handle: FileHandle;
  #bytes: number;

  private constructor(file: string, handle: FileHandle, bytes: number) {
    this.#file = file;
    this.#handle = handle;
    this.#bytes = bytes;
  }

  /** @param keptBytes of an earlier run, to be continued */
  static async open(file: string, keptBytes = 0): Promise<PartialFile> {
    const open = keptBytes === 0 ? openNew : openExisting;
    const handle = await open(partialPath(file), constants.O_APPEND);
    await handle.truncate(keptBytes);
    return new PartialFile(file, handle, keptBytes);
  }

  get bytes(): number {
    return this.#bytes;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#handle.writeFile(bytes);
    this.#bytes += bytes.length;
  }

  async flush(): Promise<void> {
    await this.#handle.datasync();
  }

  /**
   * Renames the file to its final name. A crash leaves the part until the complete file exists.
   *
   * @param head replaces the first `headBytes`; if it has another length, the file is copied after it
   */
  async finish(head: Uint8Array = new Uint8Array(0), headBytes = head.length): Promise<void> {
    await this.#handle.datasync();
    await this.#handle.close();
    if (head.length !== headBytes) {
      await this.#copyBehind(head, headBytes);
      return;
    }
    const patched = await openExisting(partialPath(this.#file));
    await patched.write(head, 0, head.length, 0).finally(() => patched.close());
    await rename(partialPath(this.#file), this.#file);
  }

  /** Closes the part and keeps it. */
  async leave(): Promise<void> {
    await this.#handle.close().catch(() => {});
  }

  async remove(): Promise<void> {
    await this.leave();
    await rm(partialPath(this.#file), { force: true });
  }

  async #copyBehind(head: Uint8Array, headBytes: number): Promise<void> {
    const whole = `${partialPath(this.#file)}.whole`;
    const [from, to] = [await openExisting(partialPath(this.#file)), await openNew(whole)];
    try {
      await to.writeFile(head);
      const block = new Uint8Array(COPIED_BYTES);
      for (let at = headBytes; ; ) {
        const { bytesRead } = await from.read(block, 0, block.length, at);
        if (bytesRead === 0) break;
        await to.writeFile(block.subarray(0, bytesRead));
        at += bytesRead;
      }
      await to.datasync();
    } catch (error) {
      await rm(whole, { force: true });
      throw error;
    } finally {
      await Promise.all([from.close(), to.close()]);
    }
    await rename(whole, this.#file);
    await rm(partialPath(this.#file));
  }
}

const COPIED_BYTES = 1 << 20;

export function partialPath(file: string): string {
  return `${file}.part`;
}

/** Whether there is a part of at least `bytes`. */
export async function hasPartialFile(file: string, bytes: number): Promise<boolean> {
  const found = await lstat(partialPath(file)).catch(() => null);
  return found?.isFile() === true && found.size >= bytes;
}
