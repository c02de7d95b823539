import { abortable } from "../../model/abortable.ts";
import type { Sentence as SplitSentence } from "../../text/sentences.ts";
import { clausePauseS, pauseS } from "./pauses.ts";
import { wordCount } from "./spoken-words.ts";

/**
 * What is spoken in one breath: a sentence, or a part of one that is too long. The parts of one that was cut before it was
 * read count as sentences, but for the pause between them.
 */
export interface Passage {
  /** Phoneme ids, with the silent id 0 at both ends. */
  readonly ids: readonly number[];
  /** The text as it was given, from the end of the sentence before (silent ones left out) to this one's. */
  readonly text: string;
  /** Spoken words of the sentence, and how many of them come before this passage. */
  readonly words: number;
  readonly wordsBefore: number;
  readonly endsSentence: boolean;
  /** Spoken words of all the sentences before this one. */
  readonly wordsSaid: number;
  /** Whether its sentence begins a paragraph that follows another, and whether it ends one that another follows. */
  readonly startsParagraph: boolean;
  readonly endsParagraph: boolean;
  /** Silence to the next passage, in seconds. */
  readonly pauseS: number;
}

/** How text becomes phoneme ids. */
export interface ReadsText {
  split(piece: string): readonly SplitSentence[];
  /** A list of phoneme ids for each passage of a sentence; none when there is nothing to say in it. */
  read(sentence: string): Promise<readonly (readonly number[])[]>;
}

/** Turns pieces of text into passages, one at a time, pulling a piece only when the one before is used up. */
export class PassageSource {
  readonly #pieces: AsyncIterator<string>;
  readonly #reader: ReadsText;
  readonly #signal: AbortSignal;
  readonly #waiting: Passage[] = [];
  readonly #sentences: Sentence[] = [];
  /** Given text that belongs to no passage yet. */
  #unclaimed = "";
  #hasEnded = false;
  #wordsSaid = 0;
  /** Whether a paragraph has ended since the last sentence that was read. */
  #isNewParagraph = false;
  /** All of the text that has been pulled. */
  text = "";

  constructor(text: AsyncIterable<string>, reader: ReadsText, signal: AbortSignal) {
    this.#pieces = text[Symbol.asyncIterator]();
    this.#reader = reader;
    this.#signal = signal;
  }

  /** The next passage, or null after the last. One call at a time. @throws the signal's reason, and what the text throws. */
  async next(): Promise<Passage | null> {
    for (;;) {
      const passage = this.#waiting.shift();
      if (passage !== undefined) return passage;
      const sentence = this.#sentences.shift();
      if (sentence !== undefined) {
        await this.#readAloud(sentence);
        continue;
      }
      if (this.#hasEnded) return null;
      const piece = await abortable(this.#pieces.next(), this.#signal);
      if (piece.done) this.#hasEnded = true;
      else this.#take(piece.value);
    }
  }

  /** Lets go of the text. Not awaited by anyone: a text that is still waiting for its next piece would hold up a stop. */
  release(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    void Promise.resolve(this.#pieces.return?.()).catch(() => {});
  }

  #take(piece: string): void {
    this.text += piece;
    let at = 0;
    for (const { text, endsParagraph, goesOn = false } of this.#reader.split(piece)) {
      const found = piece.indexOf(text, at);
      const end = found < 0 ? at : found + text.length;
      // The end of a piece is no paragraph's: a writer may go on in the same one.
      const isBroken = endsParagraph && /^[^\S\n]*\n/.test(piece.slice(end));
      this.#sentences.push({ text, given: piece.slice(at, end), endsParagraph: isBroken, goesOn });
      at = end;
    }
    this.#sentences.push({ text: "", given: piece.slice(at), endsParagraph: false, goesOn: false });
  }

  async #readAloud({ text, given, endsParagraph, goesOn }: Sentence): Promise<void> {
    this.#unclaimed += given;
    const parts = text === "" ? [] : await this.#reader.read(text);
    this.#signal.throwIfAborted();
    const counts = parts.map(wordCount);
    const words = counts.reduce((sum, count) => sum + count, 0);
    let wordsBefore = 0;
    parts.forEach((ids, index) => {
      const endsSentence = index === parts.length - 1;
      this.#waiting.push({
        ids,
        text: this.#unclaimed,
        words,
        wordsBefore,
        endsSentence,
        wordsSaid: this.#wordsSaid,
        startsParagraph: this.#isNewParagraph,
        endsParagraph,
        pauseS: endsSentence && !goesOn ? pauseS({ text, endsParagraph }) : clausePauseS(ids),
      });
      wordsBefore += counts[index]!;
    });
    if (parts.length === 0) {
      this.#isNewParagraph ||= endsParagraph && this.#wordsSaid > 0;
      return;
    }
    this.#unclaimed = "";
    this.#wordsSaid += words;
    this.#isNewParagraph = endsParagraph;
  }
}

interface Sentence {
  readonly text: string;
  readonly given: string;
  readonly endsParagraph: boolean;
  readonly goesOn: boolean;
}
