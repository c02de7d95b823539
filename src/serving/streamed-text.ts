import { ServiceError } from "../contract/errors.ts";
import { countChars } from "../contract/limits.ts";
import { inlineFault } from "../text/inline-phonemes.ts";
import { SentenceCutter } from "../text/sentence-cutter.ts";
import { hasSpeakable } from "../text/speakable.ts";
import { Arrivals } from "./arrivals.ts";
import type { ComingText } from "./coming-text.ts";

/** Given words that come in pieces, cut anywhere, while they are spoken. What can be said of them is held, and is bounded. */
export class StreamedText implements ComingText {
  readonly from = "the rest of the text";
  readonly #maxChars: number;
  readonly #cutter = new SentenceCutter();
  readonly #sentences = new Arrivals<string>();
  #chars = 0;
  #hasBegun = false;
  #hasWords = false;
  #isWhole = false;

  /** @param maxChars code points that there may be of all pieces */
  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** Code points that have come. */
  get chars(): number {
    return this.#chars;
  }

  /** Whether anything has come that can be said. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether there is something to say just now: a sentence that nobody has taken, or one beyond which nobody is yet. */
  get hasMore(): boolean {
    return this.#sentences.hasMore || (this.#hasWords && !this.#sentences.isAwaited);
  }

  /** Whether it has ended, and there was nothing to say. */
  get isBlank(): boolean {
    return this.#isWhole && !this.#hasWords;
  }

  /** When words came that had been waited for, by the process's steady clock, in seconds; 0 where none had. */
  get cameAtS(): number {
    return this.#sentences.cameAtS;
  }

  get isWriting(): boolean {
    return this.#sentences.isAwaited;
  }

  /**
   * Takes the next piece, and tells whether there is something in it that can be said. What comes after the end is
   * nobody's. What is wrong with it is thrown to who speaks.
   */
  push(piece: string): boolean {
    if (this.#sentences.isOver) return false;
    this.#chars += countChars(piece);
    if (this.#chars > this.#maxChars) {
      this.fail(
        new ServiceError(
          422,
          `the text has more than ${this.#maxChars} characters: send less of it in one request`,
        ),
      );
      return false;
    }
    const isSpeakable = hasSpeakable(piece);
    this.#hasBegun ||= isSpeakable;
    for (const sentence of this.#cutter.push(piece)) this.#add(sentence);
    return isSpeakable;
  }

  /** All has come. */
  end(): void {
    if (this.#sentences.isOver) return;
    const rest = this.#cutter.flush();
    if (rest !== null) this.#add(rest);
    this.#isWhole = !this.#sentences.isOver;
    this.#sentences.end();
  }

  /** No more will come, and what has come is not to be spoken. */
  fail(error: unknown): void {
    this.#sentences.drop(error);
  }

  async begin(): Promise<void> {
    if (await this.#sentences.arrived()) return;
    throw new ServiceError(400, "the text has nothing speakable: it needs at least one letter or digit");
  }

  async *pieces(onWait: () => void): AsyncGenerator<string, void, void> {
    let separator = "";
    for await (const sentence of this.#sentences.all(onWait)) {
      yield separator + sentence;
      separator = " ";
    }
  }

  meta(): null {
    return null;
  }

  release(): void {
    this.fail(new Error("nobody speaks it any more"));
  }

  #add(sentence: string): void {
    if (!hasSpeakable(sentence)) return;
    const fault = inlineFault(sentence);
    if (fault !== null) {
      this.fail(new ServiceError(400, `the text: ${fault}`));
      return;
    }
    this.#hasWords = true;
    this.#sentences.add(sentence);
  }
}
