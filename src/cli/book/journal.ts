import { readFile, rename, rm } from "node:fs/promises";
import type { Chapter } from "../../audio/encode/chapters.ts";
import { isRecord } from "../../core/is-record.ts";
import { replaceFile } from "../../core/replace-file.ts";
import { UsageError } from "../../server/errors.ts";
import { partOf } from "./part-file.ts";

/** How far a long text was spoken, at the end of a passage. */
export interface Progress {
  readonly passages: number;
  /** Of the text of those, from the first on. */
  readonly textHash: string;
  /** UTF-16 units that were read by then. */
  readonly readChars: number;
  /** Of the speech in files that are whole. */
  readonly samplesBefore: number;
  /** Files that are whole, where each chapter has one. */
  readonly files: number;
  /** Of the file that was begun: its samples and bytes, the bytes of its captions and how many they are, and its chapters. */
  readonly samples: number;
  readonly bytes: number;
  readonly captionBytes: number;
  readonly cues: number;
  readonly chapters: readonly Chapter[];
  /** Whether nothing more comes into that file, so that it may be whole by now. */
  readonly isSpoken: boolean;
  /** What the files depend on besides the text, by what users call it. */
  readonly options: Readonly<Record<string, string>>;
}

/** What is kept beside an unfinished file, `NAME.part.json`, so that whoever speaks the same again goes on behind it. */
export class Journal {
  readonly path: string;
  readonly #file: string;
  readonly #claim: string;

  constructor(file: string) {
    this.path = `${partOf(file)}.json`;
    this.#file = file;
    this.#claim = `${partOf(file)}.pid`;
  }

  /** What was kept; null where nothing was, or it cannot be read. */
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
   * Claims the file for this process until it is released. A claim of a process that is no more counts for nothing.
   *
   * @throws UsageError where another process writes it
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
    // Somebody else's.
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
