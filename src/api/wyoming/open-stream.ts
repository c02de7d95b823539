import { MAX_TEXT_CHARS } from "../../contract/limits.ts";
import { StreamedText } from "../../serving/reply/streamed-text.ts";
import type { ConnectionState } from "./eviction.ts";

/** Words that are spoken while they come. */
export class OpenStream {
  readonly words = new StreamedText(MAX_TEXT_CHARS);
  /** Resolves when the client was told of its end. Never rejects. */
  readonly speaking: Promise<void>;
  /** When it was opened, or had its last word, or what was said of it was last sent. */
  #movedMs = performance.now();
  /** Frames that its client has not taken yet. */
  #sending = 0;
  #isOver = false;
  #isWhole = false;
  #sentChars = 0;

  /** @param speak speaks the words and tells the client; never rejects */
  constructor(speak: (stream: OpenStream) => Promise<void>) {
    this.speaking = speak(this).then(() => {
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

  /** Takes the next piece. */
  push(piece: string): void {
    if (this.words.push(piece)) this.#movedMs = performance.now();
  }

  /** Something that is said is on its way to the client. */
  async sent(sending: Promise<void>): Promise<void> {
    this.#sending += 1;
    try {
      await sending;
    } finally {
      this.#sending -= 1;
      this.#movedMs = performance.now();
    }
  }

  /** All words have come. Resolves when they were spoken. */
  async end(): Promise<void> {
    this.#isWhole = true;
    this.words.end();
    await this.speaking;
  }

  /** What its connection does with its room, while it is not over. */
  get standing(): ConnectionState {
    const ageMs = performance.now() - this.#movedMs;
    if (this.#isWhole || this.#sending > 0 || this.words.hasMore) return { is: "served" };
    return { is: this.words.hasBegun ? "pausing" : "empty", ageMs };
  }
}
