import { readFile, rename, rm } from "node:fs/promises";
import type { Chapter } from "../../audio/encode/chapters.ts";
import { isRecord } from "../../core/is-record.ts";
import { replaceFile } from "../../core/replace-file.ts";
import { UsageError } from "../../server/errors.ts";
import { partialPath } from "./partial-file.ts";

/** Progress of a long text after a passage. */
export interface Progress {
  readonly passages: number;
  /** Hash of all text spoken so far. */
  readonly textHash: string;
  /** UTF-16 units read so far. */
  readonly readChars: number;
  /** Samples in finished files. */
  readonly samplesBefore: number;
  /** Finished files, if each chapter has one. */
  readonly files: number;
  /** Samples, bytes, caption bytes, captions and chapters of the current file. */
  readonly samples: number;
  readonly bytes: number;
  readonly captionBytes: number;
  readonly cues: number;
  readonly chapters: readonly Chapter[];
  /** Whether the current file is complete, so that it may have its final name already. */
  readonly isSpoken: boolean;
  /** What the files depend on besides the text, by names that users know. */
  readonly options: Readonly<Record<string, string>>;
}

/** Journal of an unfinished file, `NAME.part.json`, from which the same command resumes. */
export class Journal {
  readonly path: string;
  readonly #file: string;
  readonly #claim: string;

  constructor(file: string) {
    this.path = `${partialPath(file)}.json`;
    this.#file = file;
    this.#claim = `${partialPath(file)}.pid`;
  }

  /** Returns the stored progress; null if there is none or it is invalid. */
  async read(): Promise<Progress | null> {
    try {
      const kept: unknown = JSON.parse(await readFile(this.path, "utf8"));
      return isProgress(kept) ? kept : null;
    } catch {
      return null;
    }
  }

  async keep(progress: Progress): Promise<void> {
    await replaceFile(this.path, JSON.stringify(progress), rename, `${this.path}.new`);
  }

  /**
   * Claims the file for this process until `release`. Ignores the claim of a process that has ended.
   *
   * @throws UsageError if another process writes it
   */
  async claim(): Promise<void> {
    const owner = Number(await readFile(this.#claim, "utf8").catch(() => ""));
    if (Number.isSafeInteger(owner) && owner > 0 && owner !== process.pid && isRunning(owner))
      throw new UsageError(
        `${this.#file} is being written by another process (${owner}): wait for it, or, if that is not Antiphon, delete ${this.#claim}.`,
      );
    await replaceFile(this.#claim, `${process.pid}\n`, rename, `${this.#claim}.new`);
  }

  async release(): Promise<void> {
    await rm(this.#claim, { force: true });
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

const COUNTS = [
  "passages",
  "readChars",
  "samplesBefore",
  "files",
  "samples",
  "bytes",
  "captionBytes",
  "cues",
] as const satisfies readonly (keyof Progress)[];

function isProgress(kept: unknown): kept is Progress {
  if (!isRecord(kept)) return false;
  const { chapters, textHash, options, isSpoken } = kept;
  return (
    COUNTS.every((name) => Number.isSafeInteger(kept[name]) && Number(kept[name]) >= 0) &&
    typeof textHash === "string" &&
    isRecord(options) &&
    Object.values(options).every((value) => typeof value === "string") &&
    typeof isSpoken === "boolean" &&
    Array.isArray(chapters) &&
    chapters.every(
      (each) => isRecord(each) && typeof each.title === "string" && typeof each.startS === "number",
    )
  );
}
