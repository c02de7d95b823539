import { createHash, type Hash } from "node:crypto";
import { stat } from "node:fs/promises";
import { segmentedFile } from "../../audio/encode/segmented-file.ts";
import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import type { Script } from "../../core/script.ts";
import type { SpeechModel } from "../../core/speech-model.ts";
import { UsageError } from "../../server/errors.ts";
import { estimateSpeechS, passageSeed, synthesizePassages } from "../../serving/reply/synthesize-passages.ts";
import type { Passage } from "../../text/sentences/passages.ts";
import type { Screen } from "../terminal/command-io.ts";
import { clock, reportSpeech } from "../terminal/progress.ts";
import { BookProgress } from "./book-progress.ts";
import { type BookForm, BookWriter, OtherTextError, type ReadSoFar } from "./book-writer.ts";
import { partialPath } from "./partial-file.ts";

interface Book extends BookForm {
  readonly passages: AsyncIterable<Passage>;
  /** UTF-16 units of the text; null for a pipe. */
  readonly totalChars: number | null;
  /** UTF-16 units that are spoken; null if unknown. */
  readonly spokenChars: number | null;
  readonly model: SpeechModel;
  /** @param seed seed of the passage, for random choices */
  script(passage: Passage, seed: bigint): Promise<Script>;
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

/**
 * Speaks a long text into a file, or one per chapter, with the memory of one passage. The same command resumes after
 * the last finished passage, and produces the same bytes as an uninterrupted run.
 *
 * @throws UsageError if the file cannot hold it; Error in one sentence that says what is kept
 */
export async function speakBook(book: Book): Promise<void> {
  const beganMs = performance.now();
  await requireFile(book.output, "-o");
  if (book.captions !== null) await requireFile(book.captions.file, "--captions");
  requireRoom(book, estimateSpeechS(book.spokenChars ?? 0));
  const writer = await BookWriter.open(book).catch((error: unknown) => {
    if (error instanceof UsageError) throw error;
    throw new Error(`${reasonOf(error)} Nothing is kept of it.`, { cause: error });
  });
  const { passages, readChars } = writer.kept;
  const text = new PassageTracker(book.passages, writer);
  const progress = new BookProgress(book.screen, book);
  try {
    const speech = synthesizePassages(text.passages(), {
      model: book.model,
      script: (passage, index) => book.script(passage, passageSeed(passage, passages + index)),
      signal: book.signal,
    });
    progress.begin(readChars, writer.spokenS);
    for await (const spoken of speech) {
      if (spoken.kind === "begin") await writer.begin(spoken.passage);
      else if (spoken.kind === "sound") await writer.add(spoken.pcm);
      else {
        await writer.end(spoken.passage, spoken.words, text.until(spoken.passage));
        requireRoom(book, writer.spokenS);
        progress.show(spoken.passage.readChars, writer.spokenS, writer.chapter);
      }
    }
    if (writer.kept.passages === 0) throw new UsageError("There is nothing to speak in this text.");
    await writer.finish();
  } catch (error) {
    await writer.leave();
    if (error instanceof UsageError && writer.kept.passages === 0) throw error;
    const spoken = `${clock(writer.spokenS)} of speech are kept`;
    if (error instanceof OtherTextError) throw error;
    if (error instanceof UsageError)
      throw new UsageError(`${error.message} ${spoken} in ${partialPath(book.output)}.`);
    const kept =
      writer.kept.passages === 0
        ? "Nothing is kept of it."
        : `${spoken}: give the same command again to go on.`;
    throw new Error(`${reasonOf(error)} ${kept}`, { cause: error });
  } finally {
    progress.end();
  }
  const files = book.inFiles ? ` in ${writer.kept.files} files` : "";
  reportSpeech(book.screen, `${book.output}${files}`, writer.spokenS, beganMs);
}

/** Long texts are renamed at the end, which only a file can be. */
async function requireFile(file: string, option: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found === null || found.isFile()) return;
  const otherwise = option === "-o" ? ", or leave -o out for standard output" : "";
  throw new UsageError(`${file} is not a file: name another with ${option}${otherwise}.`);
}

/** @param seconds approximate length of the file */
function requireRoom({ encoding, inFiles, output }: Book, seconds: number): void {
  const mostS = segmentedFile(encoding, 0).maxSamples / SAMPLE_RATE_HZ;
  if (inFiles || seconds < mostS) return;
  throw new UsageError(
    `About ${clock(seconds)} of speech are more than a WAV holds, which is ${clock(mostS)}: end the name ${output} in .mp3, .opus or .flac, or add --chapters files.`,
  );
}

/** Returns the reason in one sentence. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC") return "The disk is full.";
  if (code !== undefined && /^E[A-Z]+$/.test(code)) return `The file cannot be written (${code}).`;
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

/** Passages still to be spoken, and a hash of all text so far. */
class PassageTracker {
  readonly #all: AsyncIterable<Passage>;
  readonly #writer: BookWriter;
  readonly #hash: Hash = createHash("sha256");
  #passages = 0;

  constructor(all: AsyncIterable<Passage>, writer: BookWriter) {
    this.#all = all;
    this.#writer = writer;
  }

  until({ readChars }: Pick<Passage, "readChars">): ReadSoFar {
    return { passages: this.#passages, textHash: this.#hash.copy().digest("hex"), readChars };
  }

  /** @throws UsageError if another text was begun */
  async *passages(): AsyncGenerator<Passage, void, void> {
    const { passages, textHash } = this.#writer.kept;
    const requireSame = () => {
      if (this.until({ readChars: 0 }).textHash === textHash) return;
      throw new OtherTextError(this.#writer.journalPath);
    };
    for await (const passage of this.#all) {
      if (this.#passages === passages && passages > 0) requireSame();
      this.#hash.update(JSON.stringify([passage.text, passage.line]));
      this.#passages += 1;
      if (this.#passages > passages) yield passage;
    }
    if (this.#passages <= passages && passages > 0) requireSame();
  }
}
