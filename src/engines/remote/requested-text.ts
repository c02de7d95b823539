import { hasSpeakable } from "../../text/characters.ts";
import { splitSentences } from "../../text/sentences/sentences.ts";
import type { PlainItem } from "../../text/speak-plain.ts";

export interface RequestedText {
  readonly text: string;
  /** Start in the utterance's text, in code points. */
  readonly offset: number;
  /** Pause before it that the text asks for, in seconds. */
  readonly breakS: number;
}

/**
 * Splits an utterance's text into requests: one per passage, or several for a passage that is too long. Skips text
 * without letters or numbers.
 */
export class RequestedTexts {
  readonly #passages: AsyncIterator<PlainItem>;
  readonly #maxChars: number;
  #ready: RequestedText[] = [];
  #offset = 0;
  #isOver = false;
  #breakS = 0;

  /** @param maxChars maximum code points per request */
  constructor(text: AsyncIterable<PlainItem>, maxChars: number) {
    this.#passages = text[Symbol.asyncIterator]();
    this.#maxChars = maxChars;
  }

  /** Pause after the text taken so far, in seconds. */
  get breakS(): number {
    return this.#breakS;
  }

  /** Returns the next request's text; `null` at the end. Throws errors of the text source. */
  async next(): Promise<RequestedText | null> {
    for (;;) {
      const ready = this.#ready.shift();
      if (ready !== undefined) return ready;
      if (this.#isOver) return null;
      const { value, done } = await this.#passages.next().catch((error: unknown) => {
        this.#isOver = true;
        throw error;
      });
      if (done === true) this.#isOver = true;
      else if (typeof value !== "string") this.#breakS += value.pauseS;
      else this.#enqueue(value);
    }
  }

  /** Releases the text source without waiting: it may still be waiting for its next passage. */
  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    void Promise.resolve(this.#passages.return?.()).catch(() => {});
  }

  #enqueue(piece: string): void {
    for (const text of splitText(piece, this.#maxChars)) {
      if (hasSpeakable(text)) {
        this.#ready.push({ text, offset: this.#offset, breakS: this.#breakS });
        this.#breakS = 0;
      }
      this.#offset += codePoints(text);
    }
  }
}

/**
 * Returns the sentences of a cut text of which at least one word was spoken; at least one sentence.
 *
 * @param untilChars end of the last word that was spoken completely, in code points
 */
export function startedSentences(text: string, untilChars: number): string {
  const starts = splitSentences(text).map(({ from }) => from);
  const next = starts.slice(1).find((from) => codePoints(text.slice(0, from)) >= untilChars);
  return text.slice(0, next);
}

/** Splits a text that is too long, preferably between sentences, else between words. */
function splitText(text: string, maxChars: number): string[] {
  if (codePoints(text) <= maxChars) return [text];
  const sentences = splitSentences(text).map(({ from }) => from);
  const found: string[] = [];
  for (let from = 0; from < text.length; ) {
    const max = from + utf16Length(text.slice(from), maxChars);
    const sentence = sentences.findLast((start) => start > from && start <= max);
    const space = text.lastIndexOf(" ", max - 1) + 1;
    const until = max === text.length ? max : (sentence ?? (space > from ? space : max));
    found.push(text.slice(from, until));
    from = until;
  }
  return found;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Returns the length in UTF-16 units of the first code points. */
function utf16Length(text: string, maxCodePoints: number): number {
  let units = 0;
  let count = 0;
  for (const character of text) {
    if (count === maxCodePoints) break;
    units += character.length;
    count += 1;
  }
  return units;
}
