import { abortable } from "../model/abortable.ts";
import type { Sentence as SplitSentence } from "../text/sentences.ts";
import type { Span } from "../text/traced.ts";
import { clausePauseS, pauseS } from "./pauses.ts";
import { wordCount } from "./spoken-words.ts";

/**
 * What is spoken in one breath: a sentence, or a part of one that is too long. The parts of one that was cut before it was
 * read count as sentences, but for the pause between them.
 */
export interface Segment extends ReadSegment {
  /** The text as it was given, from the end of the sentence before (silent ones left out) to this one's. */
  readonly text: string;
  /** Spoken words of the sentence, and how many of them come before this segment. */
  readonly words: number;
  readonly wordsBefore: number;
  readonly endsSentence: boolean;
  /** Spoken words of all the sentences before this one. */
  readonly wordsSaid: number;
  /** Whether its sentence begins a paragraph that follows another, and whether it ends one that another follows. */
  readonly startsParagraph: boolean;
  readonly endsParagraph: boolean;
  /** Silence to the next segment, in seconds. */
  readonly pauseS: number;
}

/** What is read of a sentence, or of a part of one. */
export interface ReadSegment {
  /** Phoneme ids, with the silent id 0 at both ends. */
  readonly ids: readonly number[];
  /** Where each spoken word is written: in its sentence, or, of a segment, in the whole text. */
  readonly sources: readonly Span[];
}

/** How text becomes phoneme ids. */
export interface SegmentReader {
  split(piece: string): readonly SplitSentence[];
  /** The segments of a sentence; none when there is nothing to say in it. */
  read(sentence: string): Promise<readonly ReadSegment[]>;
}

/** Turns pieces of text into segments, one at a time, pulling a piece only when the one before is used up. */
export class SegmentSource {
  readonly #pieces: AsyncIterator<string>;
  readonly #reader: SegmentReader;
  readonly #signal: AbortSignal;
  readonly #waiting: Segment[] = [];
  readonly #sentences: Sentence[] = [];
  /** Given text that belongs to no segment yet. */
  #unclaimed = "";
  #hasEnded = false;
  #wordsSaid = 0;
  /** Whether a paragraph has ended since the last sentence that was read. */
  #isNewParagraph = false;
  /** All of the text that has been pulled. */
  text = "";

  constructor(text: AsyncIterable<string>, reader: SegmentReader, signal: AbortSignal) {
    this.#pieces = text[Symbol.asyncIterator]();
    this.#reader = reader;
    this.#signal = signal;
  }

  /** The next segment, or null after the last. One call at a time. @throws the signal's reason, and what the text throws. */
  async next(): Promise<Segment | null> {
    for (;;) {
      const segment = this.#waiting.shift();
      if (segment !== undefined) return segment;
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
    const before = this.text.length;
    this.text += piece;
    let at = 0;
    for (const { text, from, endsParagraph, goesOn = false } of this.#reader.split(piece)) {
      const end = from + text.length;
      // The end of a piece is no paragraph's: a writer may go on in the same one.
      const isBroken = endsParagraph && /^[^\S\n]*\n/.test(piece.slice(end));
      const given = piece.slice(at, end);
      this.#sentences.push({ text, from: before + from, given, endsParagraph: isBroken, goesOn });
      at = end;
    }
    const rest = { text: "", from: this.text.length, given: piece.slice(at) };
    this.#sentences.push({ ...rest, endsParagraph: false, goesOn: false });
  }

  async #readAloud({ text, from, given, endsParagraph, goesOn }: Sentence): Promise<void> {
    this.#unclaimed += given;
    const parts = text === "" ? [] : await this.#reader.read(text);
    this.#signal.throwIfAborted();
    const counts = parts.map(({ ids }) => wordCount(ids));
    const words = counts.reduce((sum, count) => sum + count, 0);
    let wordsBefore = 0;
    parts.forEach(({ ids, sources }, index) => {
      const endsSentence = index === parts.length - 1;
      this.#waiting.push({
        ids,
        sources: sources.map((source) => ({ from: from + source.from, to: from + source.to })),
        text: this.#unclaimed,
        words,
        wordsBefore,
        endsSentence,
        wordsSaid: this.#wordsSaid,
        startsParagraph: this.#isNewParagraph,
        endsParagraph,
        pauseS: endsSentence && !goesOn ? pauseS(text, endsParagraph) : clausePauseS(ids),
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
  /** Where it begins in the whole text. */
  readonly from: number;
  readonly given: string;
  readonly endsParagraph: boolean;
  readonly goesOn: boolean;
}
