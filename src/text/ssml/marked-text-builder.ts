import type { MarkedPoint, MarkedRun, MarkedText, TextEdit } from "../../core/marked-text.ts";
import { isSpaceCode } from "../characters.ts";

/** Separation between two runs of words, weakest first. */
export type Boundary = "none" | "space" | "sentence" | "paragraph";

/** Builds a marked text in one pass over the written text. */
export class MarkedTextBuilder {
  readonly #written: string;
  readonly #edits: TextEdit[] = [];
  readonly #points: MarkedPoint[] = [];
  readonly #runs: MarkedRun[] = [];
  /** Position in the written text, and length of the spoken text so far. */
  #at = 0;
  #length = 0;
  #endsInSpace = true;
  #run: Omit<MarkedRun, "from" | "to"> | null = null;
  #boundary: Boundary = "none";
  /** Points between the last words and the next, placed when the next ones come. */
  #waiting: Waiting[] = [];
  /** Index of the last edit if it is a deletion, which may still become a separator; else -1. */
  #open = -1;

  constructor(written: string) {
    this.#written = written;
  }

  /** Sets the style of the following words; `null` is the default style. */
  setRun(run: Omit<MarkedRun, "from" | "to"> | null): void {
    this.#run = run;
  }

  keep(to: number): void {
    if (to <= this.#at) return;
    this.#settle(this.#written.charCodeAt(this.#at));
    this.#spoken(to - this.#at, this.#written.charCodeAt(to - 1));
    this.#at = to;
    this.#open = -1;
  }

  /** Speaks `words` for the text up to `to`; "" skips it. */
  replace(to: number, words: string): void {
    if (to <= this.#at) return;
    if (words !== "") {
      this.#settle(words.charCodeAt(0));
      this.#spoken(words.length, words.charCodeAt(words.length - 1));
    }
    this.#edits.push({ from: this.#at, to, words });
    this.#open = words === "" ? this.#edits.length - 1 : -1;
    this.#at = to;
  }

  /** Separates the words before from those after. */
  part(boundary: Boundary): void {
    if (STRENGTHS.indexOf(boundary) > STRENGTHS.indexOf(this.#boundary)) this.#boundary = boundary;
  }

  pause(pauseS: number): void {
    this.#waiting.push({ pauseS });
  }

  mark(name: string): void {
    this.#waiting.push({ mark: name, writtenAt: this.#at });
  }

  /** Whether the spoken text ends in a space, so that another would be redundant. */
  get endsInSpace(): boolean {
    return this.#endsInSpace || STRENGTHS.indexOf(this.#boundary) > 1;
  }

  end(): MarkedText {
    this.keep(this.#written.length);
    this.#boundary = "none";
    this.#place();
    return { written: this.#written, edits: this.#edits, points: this.#points, runs: this.#runs };
  }

  /** Places separators and waiting points before the next words. */
  #settle(next: number): void {
    const boundary = this.#length === 0 ? "none" : this.#boundary;
    const isApart = this.#endsInSpace || isSpaceCode(next);
    const words = boundary === "none" || (boundary === "space" && isApart) ? "" : PARTS[boundary];
    if (words !== "" && this.#open >= 0) {
      const edit = this.#edits[this.#open]!;
      this.#edits[this.#open] = { ...edit, words };
      this.#length += words.length;
      this.#endsInSpace = true;
    }
    if (boundary === "sentence" && !this.#waiting.some((point) => "pauseS" in point))
      this.#waiting.unshift({ pauseS: SENTENCE_S, isUsual: true });
    this.#boundary = "none";
    this.#place();
  }

  #place(): void {
    for (const point of this.#waiting) this.#points.push({ at: this.#length, ...point });
    this.#waiting = [];
  }

  #spoken(length: number, last: number): void {
    const from = this.#length;
    this.#length += length;
    this.#endsInSpace = isSpaceCode(last);
    if (this.#run === null) return;
    const before = this.#runs.at(-1);
    const goesOn =
      before?.to === from && before.voice === this.#run.voice && before.manner === this.#run.manner;
    if (goesOn) this.#runs[this.#runs.length - 1] = { ...before, to: this.#length };
    else this.#runs.push({ from, to: this.#length, ...this.#run });
  }
}

type Waiting =
  | { readonly pauseS: number; readonly isUsual?: true }
  | { readonly mark: string; readonly writtenAt: number };

const STRENGTHS: readonly Boundary[] = ["none", "space", "sentence", "paragraph"];
/** An empty line always ends a sentence. */
const PARTS = { space: " ", sentence: "\n\n", paragraph: "\n\n" } as const;
/** Pause between two sentences of one line, in seconds. */
const SENTENCE_S = 0.4;
