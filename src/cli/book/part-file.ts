import { type FileHandle, open, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import type { Chapter } from "../../audio/encode/chapters.ts";

/** A file that grows as `NAME.part`, and has its name once it is whole. */
export class PartFile {
  readonly #file: string;
  readonly #handle: FileHandle;
  #bytes: number;

  private constructor(file: string, handle: FileHandle, bytes: number) {
    this.#file = file;
    this.#handle = handle;
    this.#bytes = bytes;
  }

  /** @param keptBytes of what was written before, behind which it goes on */
  static async open(file: string, keptBytes = 0): Promise<PartFile> {
    if (keptBytes > 0) await truncate(partOf(file), keptBytes);
    return new PartFile(file, await open(partOf(file), keptBytes > 0 ? "a" : "w"), keptBytes);
  }

  /** Bytes that were written. */
  get bytes(): number {
    return this.#bytes;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#handle.writeFile(bytes);
    this.#bytes += bytes.length;
  }

  /** Resolves when all of it lies on the disk. */
  async flush(): Promise<void> {
    await this.#handle.datasync();
  }

  /** Gives it its name. @param head what stands in place of its first `headBytes`, where that is another */
  async finish(head?: Uint8Array, headBytes = head?.length ?? 0): Promise<void> {
    await this.#handle.close();
    if (head !== undefined && head.length === headBytes) {
      const patched = await open(partOf(this.#file), "r+");
      await patched.write(head, 0, head.length, 0).finally(() => patched.close());
    } else if (head !== undefined) await this.#copyBehind(head, headBytes);
    await rename(partOf(this.#file), this.#file);
  }

  /** Closes it as it is. */
  async leave(): Promise<void> {
    await this.#handle.close().catch(() => {});
  }

  async remove(): Promise<void> {
    await this.leave();
    await rm(partOf(this.#file), { force: true });
  }

  async #copyBehind(head: Uint8Array, headBytes: number): Promise<void> {
    const whole = `${this.#file}.whole`;
    const [from, to] = [await open(partOf(this.#file), "r"), await open(whole, "w")];
    try {
      await to.writeFile(head);
      const block = new Uint8Array(COPIED_BYTES);
      for (let at = headBytes; ; ) {
        const { bytesRead } = await from.read(block, 0, block.length, at);
        if (bytesRead === 0) break;
        await to.writeFile(block.subarray(0, bytesRead));
        at += bytesRead;
      }
    } catch (error) {
      await rm(whole, { force: true });
      throw error;
    } finally {
      await Promise.all([from.close(), to.close()]);
    }
    await rename(whole, partOf(this.#file));
  }
}

const COPIED_BYTES = 1 << 20;

export function partOf(file: string): string {
  return `${file}.part`;
}

/** How far a long text was spoken, at the end of a passage. */
export interface Progress {
  readonly passages: number;
  /** Of the text of those, from the first on. */
  readonly textHash: string;
  /** UTF-16 units that were read by then. */
  readonly readChars: number;
  readonly samples: number;
  /** Bytes of the sound and of the captions, and captions, in the file that was begun. */
  readonly bytes: number;
  readonly captionBytes: number;
  readonly cues: number;
  readonly chapters: readonly Chapter[];
  /** Files that are whole, where each chapter has one. */
  readonly files: number;
  /** What the sound depends on besides the text. */
  readonly options: string;
  /** What the seeds of passages are made of. */
  readonly seed: string;
}

/** What is kept beside an unfinished file, `NAME.part.json`, so that whoever speaks the same again goes on behind it. */
export class Journal {
  readonly #path: string;

  constructor(file: string) {
    this.#path = `${partOf(file)}.json`;
  }

  /** What was kept; null where nothing was, or it cannot be read. */
  async read(): Promise<Progress | null> {
    try {
      const kept = JSON.parse(await readFile(this.#path, "utf8")) as Progress;
      const counts = [
        kept.passages,
        kept.samples,
        kept.bytes,
        kept.captionBytes,
        kept.cues,
        kept.files,
        kept.readChars,
      ];
      const isWhole = counts.every((count) => Number.isSafeInteger(count) && count >= 0);
      return isWhole && Array.isArray(kept.chapters) ? kept : null;
    } catch {
      return null;
    }
  }

  async keep(progress: Progress): Promise<void> {
    await writeFile(`${this.#path}.new`, JSON.stringify(progress));
    await rename(`${this.#path}.new`, this.#path);
  }

  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
  }
}
