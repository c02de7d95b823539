import { extname } from "node:path";
import { type BookTag, type Chapter, MAX_CHAPTERS } from "../../audio/encode/chapters.ts";
import type { SegmentedKind } from "../../audio/encode/segmented-file.ts";
import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import type { WordTiming } from "../../contract/spoken.ts";
import { UsageError } from "../../server/errors.ts";
import type { Passage } from "../../text/sentences/passages.ts";
import { BookSound, CaptionFile, type CaptionForm } from "./book-sound.ts";
import { Journal, type Progress } from "./journal.ts";
import { hasPartialFile } from "./partial-file.ts";

export interface BookForm {
  readonly output: string;
  readonly encoding: SegmentedKind;
  /** Whether each chapter is a file of its own. */
  readonly inFiles: boolean;
  /** Empty if unknown. */
  readonly title: string;
  readonly author: string;
  /** Integrated loudness of each file in LUFS; `null`: the voice's own. */
  readonly loudness: number | null;
  readonly captions: { readonly file: string; readonly form: CaptionForm } | null;
  /** What the files depend on besides the text, by names that users know. */
  readonly options: Readonly<Record<string, string>>;
}

/** Another text was begun under this name. */
export class OtherTextError extends UsageError {
  constructor(journalPath: string) {
    super(`Another text was begun under this name: delete ${journalPath} to begin anew.`);
  }
}

export type ReadSoFar = Pick<Progress, "passages" | "textHash" | "readChars">;

const NOTHING_YET: Progress = {
  passages: 0,
  textHash: "",
  readChars: 0,
  samplesBefore: 0,
  files: 0,
  samples: 0,
  bytes: 0,
  captionBytes: 0,
  cues: 0,
  chapters: [],
  isSpoken: false,
  options: {},
};

/**
 * Writes sound and captions, in one file each or one per chapter, with a journal from which to resume after each
 * passage.
 */
export class BookWriter {
  readonly #form: BookForm;
  readonly #journal: Journal;
  #kept: Progress;
  #sound: BookSound | null = null;
  #captions: CaptionFile | null = null;
  #chapters: Chapter[];
  #chapter: string | null = null;
  #passageAt = 0;

  private constructor(form: BookForm, journal: Journal, kept: Progress) {
    this.#form = form;
    this.#journal = journal;
    this.#kept = kept;
    this.#chapters = [...kept.chapters];
  }

  /**
   * Resumes the files if they are still there, else begins anew. @throws UsageError if they were begun with other
   * options
   */
  static async open(form: BookForm): Promise<BookWriter> {
    const journal = new Journal(form.output);
    await journal.claim();
    try {
      return await BookWriter.#begun(form, journal);
    } catch (error) {
      await journal.release();
      throw error;
    }
  }

  static async #begun(form: BookForm, journal: Journal): Promise<BookWriter> {
    const kept = await journal.read();
    const { options } = form;
    const other = Object.keys(options).filter(
      (name) => kept !== null && kept.options[name] !== options[name],
    );
    if (kept !== null && kept.passages > 0 && other.length > 0)
      throw new UsageError(
        `${form.output} was begun with other options (${other.join(", ")}): give the same again, or delete ${journal.path} to begin anew.`,
      );
    const writer = new BookWriter(form, journal, { ...(kept ?? NOTHING_YET), options });
    if (kept === null || !(await writer.#hasParts()))
      return new BookWriter(form, journal, { ...NOTHING_YET, options });
    return writer;
  }

  /** Progress up to the last finished passage. */
  get kept(): Progress {
    return this.#kept;
  }

  get journalPath(): string {
    return this.#journal.path;
  }

  /** Seconds of speech up to the last finished passage. */
  get spokenS(): number {
    return (this.#kept.samplesBefore + this.#kept.samples) / SAMPLE_RATE_HZ;
  }

  /** Heading of the current chapter. */
  get chapter(): string | null {
    return this.#chapter;
  }

  async begin({ chapter }: Passage): Promise<void> {
    const isNext = chapter !== null && this.#form.inFiles;
    if (this.#kept.isSpoken && !isNext) throw new OtherTextError(this.journalPath);
    if (isNext && this.#kept.samples > 0) await this.#endFile();
    this.#captions ??= await this.#openCaptions();
    const sound = await this.#openSound();
    this.#passageAt = sound.samples;
    this.#chapter = chapter ?? this.#chapter;
    if (chapter !== null && this.#chapters.length < MAX_CHAPTERS)
      this.#chapters.push({ title: chapter, startS: this.#passageAt / SAMPLE_RATE_HZ });
    await sound.begin();
  }

  async add(pcm: Uint8Array): Promise<void> {
    await this.#sound!.add(pcm);
  }

  async end(passage: Passage, words: readonly WordTiming[], read: ReadSoFar): Promise<void> {
    const sound = this.#sound!;
    await sound.end();
    await this.#captions?.add(passage, words, this.#passageAt / SAMPLE_RATE_HZ);
    await this.#keep({
      ...read,
      samples: sound.samples,
      bytes: sound.bytes,
      ...this.#captions?.written,
      chapters: this.#chapters,
    });
  }

  /** Renames the last file to its final name. */
  async finish(): Promise<void> {
    if (this.#kept.samples > 0) await this.#endFile();
    await this.#journal.release();
    await this.#journal.remove();
  }

  /** Closes the unfinished files; removes them if no passage was finished. */
  async leave(): Promise<void> {
    const isKept = this.#kept.passages > 0;
    for (const each of [this.#sound, this.#captions]) await (isKept ? each?.leave() : each?.remove());
    await this.#journal.release();
  }

  async #keep(now: Partial<Progress>): Promise<void> {
    const next = { ...this.#kept, ...now };
    await this.#journal.keep(next);
    this.#kept = next;
  }

  async #hasParts(): Promise<boolean> {
    const { isSpoken, samples, bytes, captionBytes } = this.#kept;
    if (isSpoken || samples === 0) return true;
    const { output, captions } = this.#form;
    return (
      (await hasPartialFile(this.#named(output), bytes)) &&
      (captions === null || (await hasPartialFile(this.#named(captions.file), captionBytes)))
    );
  }

  async #openSound(): Promise<BookSound> {
    const { output, encoding, loudness } = this.#form;
    const form = { kind: encoding, serial: this.#kept.files + 1, loudness };
    this.#sound ??= await BookSound.open(this.#named(output), form, this.#kept);
    return this.#sound;
  }

  async #openCaptions(): Promise<CaptionFile | null> {
    const { captions } = this.#form;
    return captions === null
      ? null
      : await CaptionFile.open(this.#named(captions.file), captions.form, this.#kept);
  }

  /** Ends the current file. Records first that it ends: a crash may leave it with its final name and no part. */
  async #endFile(): Promise<void> {
    const { output, captions, inFiles } = this.#form;
    if (!this.#kept.isSpoken) await this.#keep({ isSpoken: true });
    if (captions !== null && (await hasPartialFile(this.#named(captions.file), this.#kept.captionBytes))) {
      this.#captions ??= await this.#openCaptions();
      await this.#captions?.finish();
    }
    if (await hasPartialFile(this.#named(output), this.#kept.bytes))
      await (await this.#openSound()).finish(inFiles ? [] : this.#chapters, this.#tags());
    [this.#sound, this.#captions] = [null, null];
    const { files, samples, samplesBefore } = this.#kept;
    this.#chapters = [];
    await this.#keep({
      files: files + 1,
      samplesBefore: samplesBefore + samples,
      samples: 0,
      bytes: 0,
      captionBytes: 0,
      cues: 0,
      chapters: [],
      isSpoken: false,
    });
  }

  /** Returns the tags of the current file, which is the whole book or a chapter of it. */
  #tags(): BookTag[] {
    const { title, author, inFiles } = this.#form;
    const chapter = inFiles ? this.#chapters[0]?.title : undefined;
    if (title === "" && author === "") return [];
    const all: BookTag[] = [
      ["TITLE", chapter ?? title],
      ["ALBUM", title],
      ["ARTIST", author],
    ];
    return all.filter(([, text]) => text !== "");
  }

  /** Returns the chapter's file: `book-01.mp3`. */
  #named(file: string): string {
    if (!this.#form.inFiles) return file;
    const ending = extname(file);
    return `${file.slice(0, file.length - ending.length)}-${`${this.#kept.files + 1}`.padStart(2, "0")}${ending}`;
  }
}
