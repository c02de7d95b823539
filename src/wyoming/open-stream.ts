import { MAX_TEXT_CHARS } from "../contract/limits.ts";
import { StreamedText } from "../serving/streamed-text.ts";
import type { Standing } from "./giving-way.ts";

/** Words that are spoken while they come. */
export class OpenStream {
  readonly words = new StreamedText(MAX_TEXT_CHARS);
  /** Resolves when the client was told of its end. Never rejects. */
  readonly speaking: Promise<void>;
  readonly #openedMs = performance.now();
  #isOver = false;
  #isWhole = false;
  #sentChars = 0;

  /** @param speak speaks the words and tells the client; never rejects */
  constructor(speak: (words: StreamedText) => Promise<void>) {
    this.speaking = speak(this.words).then(() => {
      this.#isOver = true;
    });
  }

  /** Whether its client was told of its end; it may still be sending words, and the end of them. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** How many characters of a piece may still be spoken, which is asked once of each piece. */
  charsOf(text: unknown): number {
    if (typeof text !== "string") return 0;
    this.#sentChars += text.length;
    return this.#isOver || this.#sentChars > MAX_TEXT_CHARS ? 0 : text.length;
  }

  /** All words have come. Resolves when they were spoken. */
  async end(): Promise<void> {
    this.#isWhole = true;
    this.words.end();
    await this.speaking;
  }

  /** What its connection does with its room, while it is not over. */
  get standing(): Standing {
    if (this.#isWhole || this.words.hasBegun) return { is: "served" };
    return { is: "empty", ageMs: performance.now() - this.#openedMs };
  }
}
