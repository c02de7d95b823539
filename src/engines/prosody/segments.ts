import { abortable } from "../../core/abortable.ts";
import type { MarkedPoint, TextPiece } from "../../core/marked-text.ts";
import type { TextRange } from "../../text/rewritten-text.ts";
import type { Sentence as SplitSentence } from "../../text/sentences/sentences.ts";
import { clausePauseS, pauseS } from "./pauses.ts";
import { type GapMarks, gapOf, PieceMarks, type SegmentMarks } from "./piece-marks.ts";
import { wordCount } from "./spoken-words.ts";

/**
 * What is spoken in one breath: a sentence, or a part of one that is too long. The parts of one that was cut before it was
 * read count as sentences, but for the pause between them.
 */
export interface Segment extends ReadSegment {
  /** The spoken text, from the end of the sentence before (silent ones left out) to this one's. */
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
  /** What the text's own marks ask for in it; absent where there is nothing. */
  readonly marks?: SegmentMarks;
  /** The same before it. */
  readonly gap?: GapMarks;
}

/** What is read of a sentence, or of a part of one. */
export interface ReadSegment {
  /** Phoneme ids, with the silent id 0 at both ends. */
  readonly ids: readonly number[];
  /** Where each spoken word is written: in its sentence, or, of a segment, in the whole text. */
  readonly sources: readonly TextRange[];
  /** Whether it was cut where the sentence has no mark: nobody would pause there. */
  readonly isBrokenOff?: true;
}

/** How text becomes phoneme ids. */
export interface SegmentReader {
  split(piece: string): readonly SplitSentence[];
  /**
   * The segments of a sentence; none when there is nothing to say in it.
   *
   * @param cuts places in it at which a new segment begins, if a word does, else with the next word
   */
  read(sentence: string, cuts?: readonly number[]): Promise<readonly ReadSegment[]>;
}

/** Turns pieces of text into segments, one at a time, pulling a piece only when the one before is used up. */
export class SegmentSource {
  readonly #pieces: AsyncIterator<TextPiece>;
  readonly #reader: SegmentReader;
  readonly #signal: AbortSignal;
  readonly #waiting: Segment[] = [];
  readonly #sentences: Sentence[] = [];
  /** Spoken text that belongs to no segment yet. */
  #unclaimed = "";
  #hasEnded = false;
  #wordsSaid = 0;
  /** Whether a paragraph has ended since the last sentence that was read. */
  #isNewParagraph = false;
  /** Points between the last segment's words and the next one's. */
  #waitingPoints: MarkedPoint[] = [];
  /** All of the text that has been pulled, as it was sent. */
  text = "";

  constructor(text: AsyncIterable<TextPiece>, reader: SegmentReader, signal: AbortSignal) {
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

  /** What marks ask for behind the last segment; known once there are no more. */
  get tail(): GapMarks {
    return gapOf(this.#waitingPoints);
  }

  /** Lets go of the text. Not awaited by anyone: a text that is still waiting for its next piece would hold up a stop. */
  release(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    void Promise.resolve(this.#pieces.return?.()).catch(() => {});
  }

  #take(piece: TextPiece): void {
    const marks = new PieceMarks(piece, this.text.length);
    const { written, spoken } = marks;
    this.text += written;
    let at = 0;
    for (const { text, from, endsParagraph, goesOn = false } of this.#reader.split(spoken)) {
      const end = from + text.length;
      // The end of a piece is no paragraph's: a writer may go on in the same one.
      const isBroken = endsParagraph && /^[^\S\n]*\n/.test(spoken.slice(end)) && !marks.isPauseBehind(end);
      const given = spoken.slice(at, end);
      this.#sentences.push({ text, from, marks, given, endsParagraph: isBroken, goesOn });
      at = end;
    }
    const rest = { text: "", from: spoken.length, marks, given: spoken.slice(at) };
    this.#sentences.push({ ...rest, endsParagraph: false, goesOn: false });
  }

  async #readAloud({ text, from, marks, given, endsParagraph, goesOn }: Sentence): Promise<void> {
    this.#unclaimed += given;
    const parts = text === "" ? [] : await this.#reader.read(text, marks.cuts(from, from + text.length));
    this.#signal.throwIfAborted();
    const counts = parts.map(({ ids }) => wordCount(ids));
    const words = counts.reduce((sum, count) => sum + count, 0);
    let wordsBefore = 0;
    parts.forEach(({ ids, sources, isBrokenOff = false }, index) => {
      const endsSentence = index === parts.length - 1;
      const spans = sources.map((source) => ({ from: from + source.from, to: from + source.to }));
      this.#waiting.push({
        ids,
        sources: spans.map((span) => marks.sourceOf(span)),
        text: this.#unclaimed,
        words,
        wordsBefore,
        endsSentence,
        wordsSaid: this.#wordsSaid,
        startsParagraph: this.#isNewParagraph,
        endsParagraph,
        pauseS: isBrokenOff ? 0 : endsSentence && !goesOn ? pauseS(text, endsParagraph) : clausePauseS(ids),
        ...this.#marksAt(marks, spans),
      });
      wordsBefore += counts[index]!;
    });
    if (text === "") this.#waitingPoints.push(...marks.pointsUntil(from));
    if (parts.length === 0) {
      this.#isNewParagraph ||= endsParagraph && this.#wordsSaid > 0;
      return;
    }
    this.#unclaimed = "";
    this.#wordsSaid += words;
    this.#isNewParagraph = endsParagraph;
  }

  /** What marks ask for in a segment and before it. */
  #marksAt(marks: PieceMarks, spans: readonly TextRange[]): Pick<Segment, "marks" | "gap"> {
    if (marks.isPlain && this.#waitingPoints.length === 0) return {};
    const gap = gapOf([...this.#waitingPoints, ...marks.pointsUntil(spans[0]?.from ?? 0)]);
    this.#waitingPoints = [];
    return { gap, marks: marks.segment(spans) };
  }
}

interface Sentence {
  readonly text: string;
  /** Where it begins in the spoken text of its piece. */
  readonly from: number;
  readonly marks: PieceMarks;
  /** From the end of the sentence before to this one's. */
  readonly given: string;
  readonly endsParagraph: boolean;
  readonly goesOn: boolean;
}
