import { createHash, type Hash, randomUUID } from "node:crypto";
import { extname } from "node:path";
import type { Chapter } from "../../audio/encode/chapters.ts";
import type { Encoding } from "../../audio/encode/encoder.ts";
import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import type { SpokenWord } from "../../contract/spoken.ts";
import type { Script } from "../../model/script.ts";
import type { SpeechModel } from "../../model/speech-model.ts";
import { UsageError } from "../../server/usage-error.ts";
import { estimatedS, speakPassages } from "../../serving/speak-passages.ts";
import type { Screen } from "../../terminal/command-io.ts";
import type { Passage } from "../../text/passages.ts";
import { BookProgress, clock } from "./book-progress.ts";
import { BookSound } from "./book-sound.ts";
import { CaptionFile, type CaptionForm } from "./caption-file.ts";
import { Journal, type Progress, partOf } from "./part-file.ts";

/** A long text, and what it is to be. */
export interface Book {
  readonly passages: AsyncIterable<Passage>;
  /** UTF-16 units of it; null where it comes from a pipe. */
  readonly totalChars: number | null;
  readonly output: string;
  readonly encoding: Encoding;
  /** Whether each chapter is a file of its own. */
  readonly inFiles: boolean;
  readonly captions: { readonly file: string; readonly form: CaptionForm } | null;
  /** What the sound depends on besides the text. */
  readonly options: string;
  readonly model: SpeechModel;
  /** @param seed of the passage, for what varies */
  script(text: string, seed: bigint): Promise<Script>;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

/** What a WAV says of its length has 32 bits: a day and 51 minutes. */
const MAX_WAV_S = (0xffff_ffff - 64) / (2 * SAMPLE_RATE_HZ);

/**
 * Speaks a long text into a file, or into one for each chapter. Memory is that of a passage. What was made of a WAV, and chapters that
 * are whole, are gone on with when the same is asked for again.
 *
 * @throws UsageError where the file cannot hold it; Error in one sentence that says what is kept
 */
export async function speakBook(book: Book): Promise<void> {
  requireRoom(book);
  const journal = new Journal(book.output);
  const kept = await journal.read();
  const begun = kept?.options === book.options ? kept : null;
  const seed = begun?.seed ?? randomUUID();
  const text = new TextSoFar(book, begun);
  const writer = new BookWriter(book, journal, begun, seed);
  const progress = new BookProgress(book.screen, book.totalChars);
  try {
    const speech = speakPassages(text.passages(), {
      model: book.model,
      script: (passage, index) => book.script(passage.text, seedOf(seed, (begun?.passages ?? 0) + index)),
      signal: book.signal,
    });
    progress.begin(begun?.readChars ?? 0, (begun?.samples ?? 0) / SAMPLE_RATE_HZ);
    for await (const spoken of speech) {
      if (spoken.kind === "begin") await writer.begin(spoken.passage);
      else if (spoken.kind === "sound") await writer.add(spoken.pcm);
      else {
        await writer.end(spoken.passage, spoken.words, text);
        progress.show(spoken.passage.readChars, writer.spokenS, writer.chapter);
      }
    }
    await writer.finish();
  } catch (error) {
    throw new Error(`${reasonOf(error)} ${await writer.leave()}`.trim(), { cause: error });
  } finally {
    progress.end();
  }
}

function requireRoom({ encoding, inFiles, totalChars, output }: Book): void {
  if (encoding !== "wav" || inFiles || totalChars === null || estimatedS(totalChars) < MAX_WAV_S) return;
  throw new UsageError(
    `About ${clock(estimatedS(totalChars))} of speech are more than a WAV holds, which is ${clock(MAX_WAV_S)}: end the name ${output} in .mp3, .opus or .flac, or add --chapters files.`,
  );
}

/** 64 bits for each passage. */
function seedOf(seed: string, passage: number): bigint {
  return createHash("sha256").update(`${seed} ${passage}`).digest().readBigUInt64LE();
}

/** What went wrong, in one sentence. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC") return "The disk is full.";
  if (code !== undefined && /^E[A-Z]+$/.test(code)) return `The file cannot be written (${code}).`;
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

/** The passages that are still to be spoken, and a hash of all. */
class TextSoFar {
  readonly #book: Book;
  readonly #begun: Progress | null;
  readonly #hash: Hash = createHash("sha256");
  #passages = 0;

  constructor(book: Book, begun: Progress | null) {
    this.#book = book;
    this.#begun = begun;
  }

  get so(): Pick<Progress, "passages" | "textHash"> {
    return { passages: this.#passages, textHash: this.#hash.copy().digest("hex") };
  }

  async *passages(): AsyncGenerator<Passage, void, void> {
    const { passages, textHash } = this.#begun ?? { passages: 0, textHash: "" };
    for await (const passage of this.#book.passages) {
      if (this.#passages === passages && passages > 0 && this.so.textHash !== textHash) throw this.#another();
      this.#hash.update(`${passage.text}\u0000`);
      this.#passages += 1;
      if (this.#passages > passages) yield passage;
    }
    if (
      this.#passages < passages ||
      (this.#passages === passages && passages > 0 && this.so.textHash !== textHash)
    )
      throw this.#another();
  }

  #another(): Error {
    const part = partOf(this.#book.output);
    return new Error(`${part} was begun with another text: delete ${part}.json to begin anew.`);
  }
}

/** Writes sound and captions, in one file each or in one for each chapter. */
class BookWriter {
  readonly #book: Book;
  readonly #journal: Journal;
  readonly #begun: Progress | null;
  readonly #seed: string;
  #sound: BookSound | null = null;
  #captions: CaptionFile | null = null;
  #chapters: Chapter[];
  #files: number;
  /** Of whole files. */
  #samplesBefore: number;
  #passageAt = 0;
  #keptS = 0;
  #isFirst = true;

  constructor(book: Book, journal: Journal, begun: Progress | null, seed: string) {
    this.#book = book;
    this.#journal = journal;
    this.#begun = begun;
    this.#seed = seed;
    this.#chapters = [...(begun?.chapters ?? [])];
    this.#files = begun?.files ?? 0;
    this.#samplesBefore = book.inFiles ? (begun?.samples ?? 0) : 0;
    this.#keptS = (begun?.samples ?? 0) / SAMPLE_RATE_HZ;
  }

  get spokenS(): number {
    return (this.#samplesBefore + (this.#sound?.samples ?? 0)) / SAMPLE_RATE_HZ;
  }

  get chapter(): string | null {
    return this.#chapters.at(-1)?.title ?? null;
  }

  async begin({ chapter }: Passage): Promise<void> {
    if (chapter !== null && this.#book.inFiles && this.#sound !== null) await this.#endFile();
    this.#sound ??= await this.#open();
    this.#passageAt = this.#sound.samples;
    if (chapter !== null) this.#chapters.push({ title: chapter, startS: this.#passageAt / SAMPLE_RATE_HZ });
  }

  async add(pcm: Uint8Array): Promise<void> {
    await this.#sound!.add(pcm);
  }

  async end({ text, readChars }: Passage, words: readonly SpokenWord[], { so }: TextSoFar): Promise<void> {
    const sound = this.#sound!;
    await this.#captions?.add(text, words, this.#passageAt / SAMPLE_RATE_HZ);
    this.#last = { ...so, readChars };
    if (!this.#isResumable || this.#book.inFiles) return;
    await sound.flush();
    await this.#keep({ samples: sound.samples, bytes: sound.bytes });
  }

  /** The end of the last passage. */
  #last: Pick<Progress, "passages" | "textHash" | "readChars"> = { passages: 0, textHash: "", readChars: 0 };

  get #isResumable(): boolean {
    return this.#book.inFiles || this.#book.encoding === "wav";
  }

  async #keep(at: Pick<Progress, "samples" | "bytes">): Promise<void> {
    await this.#journal.keep({
      ...this.#last,
      ...at,
      ...(this.#captions?.written ?? { captionBytes: 0, cues: 0 }),
      chapters: this.#chapters,
      files: this.#files,
      options: this.#book.options,
      seed: this.#seed,
    });
    this.#keptS = at.samples / SAMPLE_RATE_HZ;
  }

  async finish(): Promise<void> {
    if (this.#sound !== null) await this.#endFile();
    await this.#journal.remove();
  }

  /** Leaves what can be gone on with. @returns a sentence about it; empty where nothing is left */
  async leave(): Promise<string> {
    const isKept = this.#isResumable && this.#keptS > 0;
    const isPartKept = isKept && !this.#book.inFiles;
    for (const each of [this.#sound, this.#captions]) await (isPartKept ? each?.leave() : each?.remove());
    if (!isKept) return "Nothing is kept of it.";
    return `${clock(this.#keptS)} of speech are kept: give the same command again to go on.`;
  }

  async #open(): Promise<BookSound> {
    const { output, encoding, captions, inFiles } = this.#book;
    const begun = this.#isFirst && !inFiles ? this.#begun : null;
    this.#isFirst = false;
    const at = begun ?? { bytes: 0, samples: 0, captionBytes: 0, cues: 0 };
    if (captions !== null)
      this.#captions = await CaptionFile.open(this.#named(captions.file), captions.form, at);
    const serial = Number(BigInt.asUintN(32, seedOf(this.#seed, -1 - this.#files)));
    return BookSound.open(this.#named(output), encoding, serial, at);
  }

  async #endFile(): Promise<void> {
    const sound = this.#sound!;
    await sound.finish(this.#book.inFiles ? [] : this.#chapters);
    await this.#captions?.finish();
    this.#samplesBefore += sound.samples;
    this.#files += 1;
    [this.#sound, this.#captions] = [null, null];
    if (this.#book.inFiles) {
      this.#chapters = [];
      await this.#keep({ samples: this.#samplesBefore, bytes: 0 });
    }
  }

  /** The file of this chapter: `book-01.mp3`. */
  #named(file: string): string {
    if (!this.#book.inFiles) return file;
    const ending = extname(file);
    return `${file.slice(0, file.length - ending.length)}-${`${this.#files + 1}`.padStart(2, "0")}${ending}`;
  }
}
