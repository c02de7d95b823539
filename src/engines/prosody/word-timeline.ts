import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import type { SpokenWord } from "../../core/speech-model.ts";
import { isSpaceCode } from "../../text/characters.ts";
import type { TextRange } from "../../text/rewritten-text.ts";
import { FRAMES_PER_STEP, HOP_SAMPLES } from "./frames.ts";
import { AUDIBLE_ENERGY, type Plan } from "./plan.ts";
import { type Placement, sampleOf } from "./sentence-audio.ts";
import { LAST_MARK_ID, wordSpans } from "./spoken-words.ts";

/** A written word, which may be several spoken ones ("$5"), and its frames in the plan. */
export interface FramedWord {
  readonly source: TextRange;
  readonly fromFrame: number;
  readonly toFrame: number;
}

/** A named mark: its place in the text, and its frame in the plan. */
export interface FramedMark {
  readonly name: string;
  readonly at: number;
  readonly frame: number;
}

/** Returns the written words of a segment in order, without overlaps: see {@link spokenTimes}. */
export function frameWords(
  plan: Pick<Plan, "ids" | "steps" | "energy">,
  sources: readonly TextRange[],
): FramedWord[] {
  const words: FramedWord[] = [];
  for (const [index, { fromFrame, toFrame }] of spokenTimes(plan).entries()) {
    const source = sources[index];
    if (source === undefined || source.to <= source.from) continue;
    const last = words.at(-1);
    if (last === undefined || source.from >= last.source.to) words.push({ source, fromFrame, toFrame });
    else {
      const joined = { from: last.source.from, to: Math.max(last.source.to, source.to) };
      words[words.length - 1] = { source: joined, fromFrame: last.fromFrame, toFrame };
    }
  }
  return words;
}

/**
 * Returns the frames of each spoken word, in the order of {@link wordSpans}. A space's length belongs to the word
 * after it. At a pause the plan's energy decides where the word begins or ends.
 */
export function spokenTimes({
  ids,
  steps,
  energy,
}: Pick<Plan, "ids" | "steps" | "energy">): { readonly fromFrame: number; readonly toFrame: number }[] {
  const starts = soundStarts(steps);
  const spans = wordSpans(ids);
  let before = 0;
  return spans.map(({ from, to }, index) => {
    const followsWord = ids[from - 1] === LAST_MARK_ID && (ids[from - 2] ?? 0) > LAST_MARK_ID;
    const planned = starts[followsWord ? from - 1 : from]!;
    const until = starts[to]!;
    const fromFrame = Math.max(before, followsWord ? planned : soundStart(energy, planned, until));
    const isBeforeWord = ids[to] === LAST_MARK_ID && (ids[to + 1] ?? 0) > LAST_MARK_ID;
    const limit = isBeforeWord ? until : (starts[spans[index + 1]?.from ?? starts.length - 1] ?? until);
    const toFrame = Math.max(fromFrame + 1, soundEnd(energy, fromFrame, until, limit));
    before = toFrame;
    return { fromFrame, toFrame };
  });
}

/** Returns the frame at which each phoneme sounds, and the last's end: only here do steps become times. */
export function soundStarts(steps: Int32Array): number[] {
  const starts = [0];
  let at = 0;
  for (const length of steps) {
    at += length * FRAMES_PER_STEP;
    starts.push(Math.max(0, at - EARLY_FRAMES));
  }
  return starts;
}

/** Returns the end of the last audible frame in [from, to), or of a decay before `limit`; at least from + 1. */
export function soundEnd(energy: Float32Array, from: number, to: number, limit = to): number {
  const isAudible = (frame: number) => (energy[frame] ?? SILENT) >= AUDIBLE_ENERGY;
  let end = to;
  while (end < limit && isAudible(end - 1) && isAudible(end)) end++;
  if (end > to && end === limit && isAudible(end)) return to;
  while (end > from + 1 && !isAudible(end - 1)) end--;
  return end;
}

/** The words of an utterance, each returned once, with the samples in which it begins. */
export class WordTimeline {
  readonly #maxSamples: number;
  /** Words that wait to be returned, by their starts. */
  readonly #waiting: { readonly word: SpokenWord; readonly atSample: number }[] = [];
  #characters = { place: 0, count: 0 };
  /** End in the text of the last word that was placed, and so is played whole. */
  #placed = 0;

  /** @param maxSamples the audio's maximum: words that end later are dropped */
  constructor(maxSamples: number) {
    this.#maxSamples = maxSamples;
  }

  /**
   * Places the words of a segment.
   *
   * @param text as pulled so far
   * @param names marks among the words
   */
  place(
    words: readonly FramedWord[],
    text: string,
    placement: Placement,
    names: readonly FramedMark[] = [],
  ): void {
    let next = 0;
    for (const { source, fromFrame, toFrame } of words) {
      for (; next < names.length && names[next]!.at <= source.from; next++) {
        const { name, at, frame } = names[next]!;
        this.mark(name, sampleOf(placement, frame), text, at);
      }
      const span = trimmed(text, source);
      // Skips the rest of a word that was cut between segments, and words after the segment's end.
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

  mark(name: string, sample: number, text: string, at: number): void {
    if (sample >= this.#maxSamples) return;
    const timeS = sample / SAMPLE_RATE_HZ;
    const offset = this.#charactersBefore(text, at);
    const word = { word: "", mark: name, startS: timeS, endS: timeS, offset, length: 0 };
    this.#waiting.push({ word, atSample: sample });
  }

  /** Returns the words that begin before a sample and were not returned yet. */
  take(beforeSample: number): SpokenWord[] {
    const words: SpokenWord[] = [];
    while (this.#waiting.length > 0 && this.#waiting[0]!.atSample < beforeSample)
      words.push(this.#waiting.shift()!.word);
    return words;
  }

  /** Returns the text to the end of the last word that is played whole, with its marks. */
  spokenText(text: string): string {
    if (this.#placed === 0) return "";
    let end = this.#placed;
    while (end < text.length && !isSpaceCode(text.charCodeAt(end))) end++;
    const marks = text.slice(this.#placed, end);
    return text.slice(0, /[\p{L}\p{N}]/u.test(marks) ? this.#placed : end);
  }

  /** Returns the code points before a place. Places must not decrease between calls. */
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

/** Returns the first audible frame of the sound at or after `planned`; without a pause before it, `planned`. */
function soundStart(energy: Float32Array, planned: number, until: number): number {
  const isAudible = (frame: number) => (energy[frame] ?? SILENT) >= AUDIBLE_ENERGY;
  let start = planned;
  if (isAudible(start)) {
    const earliest = Math.max(0, planned - MAX_EARLY_FRAMES);
    while (start > earliest && isAudible(start - 1)) start--;
    return start > 0 && isAudible(start - 1) ? planned : start;
  }
  while (start < until - 1 && !isAudible(start)) start++;
  return start;
}

const SILENT = Number.NEGATIVE_INFINITY;

/**
 * 37.5 ms by which the network's sound, pitch and energy are ahead of its durations. Medians: 42 ms at words that begin
 * with "s" or "sh" after a vowel (70), 30 ms at those that end so before one (28), 38 ms at the first rise of energy.
 */
const EARLY_FRAMES = 3;
/** 100 ms: the most that a word sounds ahead of its plan after a pause. */
const MAX_EARLY_FRAMES = 8;

/** Trims enclosing marks, spaces and invisible characters. "f(x)" and "dogs’" stay whole. */
function trimmed(text: string, { from, to }: TextRange): TextRange {
  let start = from;
  let end = to;
  while (start < end && AROUND.test(text[start]!)) start++;
  while (end > start && AROUND.test(text[end - 1]!) && !closesItself(text.slice(start, end))) end--;
  return { from: start, to: end };
}

/** Spaces, brackets, quotes except the apostrophe, Spanish opening marks, controls. */
const AROUND = /(?!’)[\s\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Cc}\p{Cf}¡¿]/u;

/** Whether a word's last bracket was opened in it. */
function closesItself(word: string): boolean {
  const count = (brackets: RegExp) => word.match(brackets)?.length ?? 0;
  return /\p{Pe}$/u.test(word) && count(/\p{Ps}/gu) >= count(/\p{Pe}/gu);
}
