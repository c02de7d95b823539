import { abortable } from "../../core/abortable.ts";
import type { MarkedPoint, TextPiece } from "../../core/marked-text.ts";
import type { Language } from "../../text/languages/language.ts";
import type { TextRange } from "../../text/rewritten-text.ts";
import type { Sentence as SplitSentence } from "../../text/sentences/sentences.ts";
import { clausePauseS, FINAL_MARK, pauseS } from "./pauses.ts";
import { type GapMarks, gapOf, PieceMarks, type SegmentMarks } from "./piece-marks.ts";
import { wordCount } from "./spoken-words.ts";

/** A sentence, or a part of a long one. Parts cut before reading count as sentences, except for the pause. */
export interface SpokenSegment extends ReadSegment {
  /** Spoken text since the previous sentence, silent sentences included. */
  readonly text: string;
  /** Spoken words of the sentence, and those before this segment. */
  readonly words: number;
  readonly wordsBefore: number;
  readonly endsSentence: boolean;
  readonly wordsInEarlierSentences: number;
  /** Whether its sentence begins a paragraph after another, or ends one before another. */
  readonly startsParagraph: boolean;
  readonly endsParagraph: boolean;
  readonly pauseS: number;
  /** Marks of the text in the segment and before it; absent if there are none. */
  readonly marks?: SegmentMarks;
  readonly gap?: GapMarks;
}

export interface ReadSegment {
  /** Phoneme ids, with the silent id 0 at both ends. */
  readonly ids: readonly number[];
  /** Place of each spoken word: in its sentence; in a `SpokenSegment`, in the whole text. */
  readonly sources: readonly TextRange[];
  /** Whether it was cut without a mark, where no pause belongs. */
  readonly isBrokenOff?: true;
  /** Rules of its language; absent for English. */
  readonly questions?: QuestionRules;
}

/** Which sentences are questions, and of what kind, in a language. */
export type QuestionRules = Pick<Language, "question" | "choiceAt">;

export interface SegmentReader {
  split(piece: string): readonly SplitSentence[] | Promise<readonly SplitSentence[]>;
  /** Returns the spoken segments of a sentence. @param cuts places at which, or after which, a segment begins */
  read(sentence: string, cuts?: readonly number[]): Promise<readonly ReadSegment[]>;
}

/** Turns pieces of text into segments one at a time. Pulls a piece only when the one before is used up. */
export class SegmentSource {
  readonly #pieces: AsyncIterator<TextPiece>;
  readonly #readerOf: (voice: string | null) => SegmentReader;
  readonly #signal: AbortSignal;
  readonly #waiting: SpokenSegment[] = [];
  readonly #sentences: Sentence[] = [];
  /** Spoken text that belongs to no segment yet. */
  #unclaimed = "";
  #hasEnded = false;
  #wordsBefore = 0;
  /** Whether a paragraph has ended since the last spoken sentence. */
  #isNewParagraph = false;
  /** Points between the last segment's words and the next one's. */
  #waitingPoints: MarkedPoint[] = [];
  text = "";

  /** @param readerOf returns the reader for a voice that the text names, or for the usual one (`null`) */
  constructor(
    text: AsyncIterable<TextPiece>,
    readerOf: (voice: string | null) => SegmentReader,
    signal: AbortSignal,
  ) {
    this.#pieces = text[Symbol.asyncIterator]();
    this.#readerOf = readerOf;
    this.#signal = signal;
  }

  /** Returns the next segment, or `null` after the last. Calls must not overlap. @throws what the text throws */
  async next(): Promise<SpokenSegment | null> {
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
      else await this.#take(piece.value);
    }
  }

  /** The marks after the last segment; complete once there are no more. */
  get tail(): GapMarks {
    return gapOf(this.#waitingPoints);
  }

  /** Releases the text without awaiting it: a text that waits for its next piece would delay a stop. */
  release(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    void Promise.resolve(this.#pieces.return?.()).catch(() => {});
  }

  async #take(piece: TextPiece): Promise<void> {
    const marks = new PieceMarks(piece, this.text.length);
    const { written, spoken } = marks;
    this.text += written;
    let at = 0;
    for (const { from: start, to, of: reader } of marks.splitByVoice(this.#readerOf)) {
      for (const { text, goesOn = false, ...sentence } of await reader.split(spoken.slice(start, to))) {
        const from = start + sentence.from;
        const end = from + text.length;
        // The end of a piece ends no paragraph: a writer may go on in the same one.
        const endsParagraph =
          sentence.endsParagraph && /^[^\S\n]*\n/.test(spoken.slice(end)) && !marks.hasPauseAfter(end);
        const isCut = to < spoken.length && spoken.slice(end, to).trim() === "" && !FINAL_MARK.test(text);
        const given = spoken.slice(at, end);
        this.#sentences.push({ text, from, reader, marks, given, endsParagraph, goesOn: goesOn || isCut });
        at = end;
      }
    }
    const reader = this.#readerOf(null);
    const rest = { text: "", from: spoken.length, reader, marks, given: spoken.slice(at) };
    this.#sentences.push({ ...rest, endsParagraph: false, goesOn: false });
  }

  async #readAloud(sentence: Sentence): Promise<void> {
    const { text, from, reader, marks, given, endsParagraph, goesOn } = sentence;
    this.#unclaimed += given;
    const parts = text === "" ? [] : await reader.read(text, marks.cuts(from, from + text.length));
    this.#signal.throwIfAborted();
    const counts = parts.map(({ ids }) => wordCount(ids));
    const words = counts.reduce((sum, count) => sum + count, 0);
    let wordsBefore = 0;
    parts.forEach(({ ids, sources, questions, isBrokenOff = false }, index) => {
      const endsSentence = index === parts.length - 1;
      const spans = sources.map((source) => ({ from: from + source.from, to: from + source.to }));
      this.#waiting.push({
        ids,
        sources: spans.map((span) => marks.sourceOf(span)),
        text: this.#unclaimed,
        words,
        wordsBefore,
        endsSentence,
        wordsInEarlierSentences: this.#wordsBefore,
        startsParagraph: this.#isNewParagraph,
        endsParagraph,
        pauseS: isBrokenOff ? 0 : endsSentence && !goesOn ? pauseS(text, endsParagraph) : clausePauseS(ids),
        ...(questions === undefined ? {} : { questions }),
        ...this.#marksAt(marks, spans),
      });
      wordsBefore += counts[index]!;
    });
    if (text === "") this.#waitingPoints.push(...marks.pointsUntil(from));
    if (parts.length === 0) {
      this.#isNewParagraph ||= endsParagraph && this.#wordsBefore > 0;
      return;
    }
    this.#unclaimed = "";
    this.#wordsBefore += words;
    this.#isNewParagraph = endsParagraph;
  }

  #marksAt(marks: PieceMarks, spans: readonly TextRange[]): Pick<SpokenSegment, "marks" | "gap"> {
    if (marks.isPlain && this.#waitingPoints.length === 0) return {};
    const gap = gapOf([...this.#waitingPoints, ...marks.pointsUntil(spans[0]?.from ?? 0)]);
    this.#waitingPoints = [];
    return { gap, marks: marks.segment(spans) };
  }
}

interface Sentence {
  readonly text: string;
  readonly from: number;
  readonly reader: SegmentReader;
  readonly marks: PieceMarks;
  /** Text since the end of the previous sentence. */
  readonly given: string;
  readonly endsParagraph: boolean;
  readonly goesOn: boolean;
}
