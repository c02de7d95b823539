import { ServiceError } from "../../contract/errors.ts";
import { countChars } from "../../contract/limits.ts";
import { pausesS, spokenText, type TextPiece } from "../../core/marked-text.ts";
import type { WriterTokens } from "../../core/writer.ts";
import { hasSpeakable } from "../../text/characters.ts";
import { MAX_FIRST_CHARS, SentenceCutter } from "../../text/sentences/sentence-cutter.ts";
import { mayBeSsml } from "../../text/ssml/parse-markup.ts";
import { checkPauses, readMarkup } from "../prepare/read-markup.ts";
import { AsyncQueue } from "./async-queue.ts";

/** Text that a client sends in parts, cut anywhere, while it is spoken. It is buffered up to a limit. */
export class StreamedText implements TextStream {
  readonly source = "the rest of the text";
  readonly #maxChars: number;
  readonly #cutter = new SentenceCutter();
  readonly #sentences = new AsyncQueue<TextPiece>();
  readonly #cautions = new Set<string>();
  /** Text so far while it may be SSML, which can only be read as a whole; `null` once it is not. */
  #whole: string | null = "";
  /** Code points received, and those of them that are text. */
  #sent = 0;
  #chars = 0;
  #pausesS = 0;
  #hasBegun = false;
  #hasWords = false;
  #isWhole = false;

  /** @param maxChars maximum code points of all parts together */
  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** Requests of the markup that are not followed. */
  get cautions(): readonly string[] {
    return [...this.#cautions];
  }

  /** Code points received, marks excluded. */
  get chars(): number {
    return this.#chars;
  }

  /** Whether anything speakable has come. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether there is something to speak: a buffered sentence, or one beyond which the consumer does not wait yet. */
  get hasMore(): boolean {
    return this.#sentences.hasItems || (this.#hasWords && !this.#sentences.isAwaited);
  }

  /** Whether it has ended without anything to speak. */
  get isBlank(): boolean {
    return this.#isWhole && !this.#hasWords;
  }

  /** Time when awaited text came, in seconds of the process's steady clock; 0 if none was awaited. */
  get lastArrivalS(): number {
    return this.#sentences.lastArrivalS;
  }

  get isWriting(): boolean {
    return this.#sentences.isAwaited;
  }

  /**
   * Takes the next part and returns whether it has something speakable. Ignored after the end. Errors are thrown to
   * the consumer.
   */
  push(piece: string): boolean {
    if (this.#sentences.isEnded) return false;
    const chars = countChars(piece);
    this.#sent += chars;
    this.#chars += chars;
    if (this.#sent > this.#maxChars) {
      const fault = `the text has more than ${this.#maxChars} characters: send less of it in one request`;
      this.fail(new ServiceError(422, fault));
      return false;
    }
    const text = (this.#whole ?? "") + piece;
    if (this.#whole !== null) this.#whole = mayBeSsml(text) ? text : null;
    if (this.#whole !== null) return false;
    const isSpeakable = hasSpeakable(text);
    this.#hasBegun ||= isSpeakable;
    for (const sentence of this.#cutter.push(text, MAX_FIRST_CHARS)) this.#add(sentence);
    return isSpeakable;
  }

  /** Ends the sentence under way, unless the text may be SSML. */
  flush(): void {
    const rest = this.#whole === null ? this.#cutter.flush() : null;
    if (rest !== null) this.#add(rest);
  }

  end(): void {
    if (this.#sentences.isEnded) return;
    const rest = this.#whole ?? this.#cutter.flush();
    if (rest !== null) this.#add(rest);
    this.#isWhole = !this.#sentences.isEnded;
    this.#sentences.end();
  }

  /** Ends the text with an error and drops what is not spoken yet. */
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
    this.fail(new Error("it is not being spoken any more"));
  }

  #add(sentence: string): void {
    const text = this.#hasWords ? ` ${sentence}` : sentence;
    try {
      const { piece, chars, cautions } = readMarkup(text, "the text", null);
      this.#chars += chars - countChars(text);
      this.#pausesS += pausesS(piece);
      checkPauses(this.#pausesS, "the text");
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

/** Text that comes while it is spoken. */
export interface TextStream {
  /** Name of the source in messages: `the writer`. */
  readonly source: string;
  /** Whether the consumer waits for further text. */
  readonly isWriting: boolean;
  /** Whether it has ended without text: only function calls. */
  readonly hasNoText?: boolean;
  /** Tokens of the writer up to the sentence that was last consumed; absent or `null` if not counted. */
  readonly tokens?: WriterTokens | null;
  /** Waits for the first sentence, and rejects if there is none. Call once, before {@link TextStream.sentences}. */
  begin(): Promise<void>;
  /**
   * Yields whole sentences as they come, each with the space before it. Call once.
   *
   * @param onWait called when a further sentence is awaited
   */
  sentences(onWait: () => void): AsyncGenerator<TextPiece, void, void>;
  /** Returns `meta.writer`; `null` if nothing was written. */
  meta(): Record<string, unknown> | null;
  /** Stops the stream. Idempotent. */
  release(): void;
}
