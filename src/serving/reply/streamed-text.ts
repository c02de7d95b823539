import { ServiceError } from "../../contract/errors.ts";
import { countChars } from "../../contract/limits.ts";
import { pausesS, spokenText, type TextPiece } from "../../core/marked-text.ts";
import type { WriterTokens } from "../../core/writer.ts";
import { hasSpeakable } from "../../text/characters.ts";
import { SentenceCutter } from "../../text/sentences/sentence-cutter.ts";
import { mayBeSsml } from "../../text/ssml/parse-markup.ts";
import { readMarkup } from "../prepare/read-markup.ts";
import { AsyncQueue } from "./async-queue.ts";

/** Given words that come in pieces, cut anywhere, while they are spoken. What can be said of them is held, and is bounded. */
export class StreamedText implements TextStream {
  readonly source = "the rest of the text";
  readonly #maxChars: number;
  readonly #cutter = new SentenceCutter();
  readonly #sentences = new AsyncQueue<TextPiece>();
  readonly #cautions = new Set<string>();
  /** What has come while it may be SSML, which can be read when all of it has; `null` once it is known not to be. */
  #whole: string | null = "";
  /** Code points that have come, and those of them that are words. */
  #sent = 0;
  #chars = 0;
  #hasBegun = false;
  #hasWords = false;
  #isWhole = false;

  /** @param maxChars code points that there may be of all pieces */
  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** What its marks ask for and is not done. */
  get cautions(): readonly string[] {
    return [...this.#cautions];
  }

  /** Code points that have come, marks left out. */
  get chars(): number {
    return this.#chars;
  }

  /** Whether anything has come that can be said. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether there is something to say just now: a sentence that nobody has taken, or one beyond which nobody is yet. */
  get hasMore(): boolean {
    return this.#sentences.hasItems || (this.#hasWords && !this.#sentences.isAwaited);
  }

  /** Whether it has ended, and there was nothing to say. */
  get isBlank(): boolean {
    return this.#isWhole && !this.#hasWords;
  }

  /** When words came that had been waited for, by the process's steady clock, in seconds; 0 where none had. */
  get lastArrivalS(): number {
    return this.#sentences.lastArrivalS;
  }

  get isWriting(): boolean {
    return this.#sentences.isAwaited;
  }

  /**
   * Takes the next piece, and tells whether there is something in it that can be said. What comes after the end is
   * nobody's. What is wrong with it is thrown to who speaks.
   */
  push(piece: string): boolean {
    if (this.#sentences.isEnded) return false;
    const chars = countChars(piece);
    this.#sent += chars;
    this.#chars += chars;
    if (this.#sent > this.#maxChars) {
      this.fail(
        new ServiceError(
          422,
          `the text has more than ${this.#maxChars} characters: send less of it in one request`,
        ),
      );
      return false;
    }
    let text = piece;
    if (this.#whole !== null) {
      this.#whole += piece;
      if (mayBeSsml(this.#whole)) return false;
      text = this.#whole;
      this.#whole = null;
    }
    const isSpeakable = hasSpeakable(text);
    this.#hasBegun ||= isSpeakable;
    for (const sentence of this.#cutter.push(text)) this.#add(sentence);
    return isSpeakable;
  }

  /** All has come. */
  end(): void {
    if (this.#sentences.isEnded) return;
    const rest = this.#whole ?? this.#cutter.flush();
    if (rest !== null) this.#add(rest);
    this.#isWhole = !this.#sentences.isEnded;
    this.#sentences.end();
  }

  /** No more will come, and what has come is not to be spoken. */
  fail(error: unknown): void {
    this.#sentences.abort(error);
  }

  async begin(): Promise<void> {
    if (await this.#sentences.hasNext()) return;
    throw new ServiceError(400, "the text has nothing speakable: it needs at least one letter or digit");
  }

  sentences(onWait: () => void): AsyncGenerator<TextPiece, void, void> {
    return this.#sentences.values(onWait);
  }

  meta(): null {
    return null;
  }

  release(): void {
    this.fail(new Error("nobody speaks it any more"));
  }

  #add(sentence: string): void {
    const text = this.#hasWords ? ` ${sentence}` : sentence;
    try {
      const { piece, chars, cautions } = readMarkup(text, "the text", null);
      this.#chars += chars - countChars(text);
      for (const caution of cautions) this.#cautions.add(caution);
      const isSpeakable = hasSpeakable(spokenText(piece));
      if (!isSpeakable && pausesS(piece) === 0) return;
      this.#hasWords ||= isSpeakable;
      this.#hasBegun ||= isSpeakable;
      this.#sentences.push(piece);
    } catch (error) {
      this.fail(error);
    }
  }
}

/** Words that come while they are spoken. */
export interface TextStream {
  /** Who is waited for where they do not come, for messages: `the writer`. */
  readonly source: string;
  /** Whether further words are being waited for just now. */
  readonly isWriting: boolean;
  /** Whether it is over and there were no words: only calls of functions. */
  readonly hasNoText?: boolean;
  /** What a writer has taken up to the sentence that was last asked for; absent or `null` where nobody counts. */
  readonly tokens?: WriterTokens | null;
  /** Waits for the first sentence. Throws where none comes. Once, and before {@link TextStream.sentences}. */
  begin(): Promise<void>;
  /**
   * Whole sentences as they come, each with the space that parts it from the one before. Can be taken once.
   *
   * @param onWait a further sentence is waited for from now on
   */
  sentences(onWait: () => void): AsyncGenerator<TextPiece, void, void>;
  /** What a reply's `meta` says of its writing; `null` where nobody wrote. */
  meta(): Record<string, unknown> | null;
  /** Nobody takes any more. More than once is harmless. */
  release(): void;
}
