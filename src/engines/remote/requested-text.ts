import { hasSpeakable } from "../../text/characters.ts";
import { splitSentences } from "../../text/sentences/sentences.ts";
import type { PlainItem } from "../../text/speak-plain.ts";

/** Words of an utterance that are asked for in one request. */
export interface RequestedText {
  readonly text: string;
  /** Where they begin in the utterance's text, in code points. */
  readonly offset: number;
  /** The silence before them that the text asks for, in seconds. */
  readonly breakS: number;
}

/**
 * An utterance's text as it is asked for: a piece a request, and of a piece that is too long some sentences a request.
 * What has no letter or number is passed over.
 */
export class RequestedTexts {
  readonly #passages: AsyncIterator<PlainItem>;
  readonly #maxChars: number;
  #ready: RequestedText[] = [];
  #offset = 0;
  #isOver = false;
  #breakS = 0;

  /** @param maxChars code points that a request may have */
  constructor(text: AsyncIterable<PlainItem>, maxChars: number) {
    this.#passages = text[Symbol.asyncIterator]();
    this.#maxChars = maxChars;
  }

  /** The silence that the text asks for behind what has been taken, in seconds. */
  get breakS(): number {
    return this.#breakS;
  }

  /** What is asked for next; `null` at the end. Throws what the source of the text does. */
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

  /** Lets go of the text. Not waited for: a source that still waits for its next piece holds up nobody. */
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
 * Of words that were cut off the sentences of which something was heard, one at least.
 *
 * @param untilChars where the last word ends that was heard whole, in code points
 */
export function startedSentences(text: string, untilChars: number): string {
  const starts = splitSentences(text).map(({ from }) => from);
  const next = starts.slice(1).find((from) => codePoints(text.slice(0, from)) >= untilChars);
  return text.slice(0, next);
}

/** A text in parts that are not too long, cut between sentences where that can be, else between words. */
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

/** The first code points of a text, in UTF-16 units. */
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
