import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import type { SpokenWord } from "../../model/speech-model.ts";
import { isSpaceCode } from "../../text/characters.ts";
import type { Span } from "../../text/traced.ts";
import { HOP_SAMPLES } from "./geometry.ts";
import { type Placement, sampleOf } from "./sentence-audio.ts";
import type { TimedWord } from "./word-times.ts";

/** The words of an utterance as their audio is given: each once, with the samples in which it begins. */
export class WordsHeard {
  readonly #maxSamples: number;
  /** Placed and not given yet, by their beginnings. */
  readonly #waiting: { readonly word: SpokenWord; readonly atSample: number }[] = [];
  #characters = { place: 0, count: 0 };
  /** The end in the text of the last word that was placed, and so is heard whole. */
  #placed = 0;

  /** @param maxSamples the audio's longest: of words that would end behind it nothing is told */
  constructor(maxSamples: number) {
    this.#maxSamples = maxSamples;
  }

  /** Places the words of a segment. @param text all that has been pulled */
  place(words: readonly TimedWord[], text: string, placement: Placement): void {
    for (const { source, fromFrame, toFrame } of words) {
      const span = trimmed(text, source);
      // The rest of a word that was cut between two segments; one that was left out because nobody would hear it.
      if (span.to <= span.from || span.from < this.#placed || fromFrame >= placement.endFrame) continue;
      const start = sampleOf(placement, fromFrame);
      const end = Math.max(sampleOf(placement, toFrame), start + HOP_SAMPLES);
      if (end > this.#maxSamples) return;
      this.#placed = span.to;
      const word = text.slice(span.from, span.to);
      const offset = this.#charactersBefore(text, span.from);
      const length = this.#charactersBefore(text, span.to) - offset;
      const times = { startS: start / SAMPLE_RATE_HZ, endS: end / SAMPLE_RATE_HZ };
      this.#waiting.push({ word: { word, ...times, offset, length }, atSample: start });
    }
  }

  /** The words that begin before a sample of the utterance and have not been given. */
  take(beforeSample: number): SpokenWord[] {
    const words: SpokenWord[] = [];
    while (this.#waiting.length > 0 && this.#waiting[0]!.atSample < beforeSample)
      words.push(this.#waiting.shift()!.word);
    return words;
  }

  /** The text to the end of the last word that is heard whole, with the marks that go with it. */
  textHeard(text: string): string {
    if (this.#placed === 0) return "";
    let end = this.#placed;
    while (end < text.length && !isSpaceCode(text.charCodeAt(end))) end++;
    const marks = text.slice(this.#placed, end);
    return text.slice(0, /[\p{L}\p{N}]/u.test(marks) ? this.#placed : end);
  }

  /** Code points before a place. Places come in their order. */
  #charactersBefore(text: string, place: number): number {
    let { place: at, count } = this.#characters;
    while (at < place) {
      const code = text.codePointAt(at)!;
      at += code > 0xffff ? 2 : 1;
      count++;
    }
    this.#characters = { place: at, count };
    return count;
  }
}

/** Without what encloses it, and without spaces and signs that nobody sees. "f(x)" and "dogs’" are left whole. */
function trimmed(text: string, { from, to }: Span): Span {
  let start = from;
  let end = to;
  while (start < end && AROUND.test(text[start]!)) start++;
  while (end > start && AROUND.test(text[end - 1]!) && !closesItself(text.slice(start, end))) end--;
  return { from: start, to: end };
}

/** Spaces, brackets, quotes but for the one that is an apostrophe, what begins a question in Spanish, controls. */
const AROUND = /(?!’)[\s\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Cc}\p{Cf}¡¿]/u;

/** Whether a word's last bracket was opened in it. */
function closesItself(word: string): boolean {
  const count = (brackets: RegExp) => word.match(brackets)?.length ?? 0;
  return /\p{Pe}$/u.test(word) && count(/\p{Ps}/gu) >= count(/\p{Pe}/gu);
}
