import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import type { SpokenWord } from "../../core/speech-model.ts";
import { isSpaceCode } from "../../text/characters.ts";
import type { TextRange } from "../../text/rewritten-text.ts";
import { FRAMES_PER_STEP, HOP_SAMPLES } from "./frames.ts";
import type { Plan } from "./plan.ts";
import { type Placement, sampleOf } from "./sentence-audio.ts";
import { AUDIBLE_ENERGY } from "./speech-span.ts";
import { LAST_MARK_ID, wordSpans } from "./spoken-words.ts";

/** A word as it is written, which may be several as they are spoken ("$5"), and the plan's frames that it takes. */
export interface TimedWord {
  /** In the whole text. */
  readonly source: TextRange;
  readonly fromFrame: number;
  readonly toFrame: number;
}

/** A place with a name: where it is in the text, and the plan's frame in which it is come to. */
export interface TimedName {
  readonly name: string;
  readonly at: number;
  readonly frame: number;
}

/**
 * The written words of a segment, one after the other, none over another: from when to when they sound, see
 * {@link spokenTimes}.
 */
export function timedWords(
  plan: Pick<Plan, "ids" | "steps" | "energy">,
  sources: readonly TextRange[],
): TimedWord[] {
  const words: TimedWord[] = [];
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
 * When each spoken word sounds, in the order of {@link wordSpans}. The length of a space is the beginning of the word behind
 * it. Beside a pause the plan's energy, which keeps to the sound, tells where the word begins or ends.
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

/** The frame that each phoneme sounds from, and the one behind the last: the one place where steps become times. */
export function soundStarts(steps: Int32Array): number[] {
  const starts = [0];
  let at = 0;
  for (const length of steps) {
    at += length * FRAMES_PER_STEP;
    starts.push(Math.max(0, at - EARLY_FRAMES));
  }
  return starts;
}

/**
 * The end of the last frame in [from, to) that is heard, or, where the sound lasts beyond that and dies away before `limit`,
 * its end there. With none that is heard, that of the first.
 */
export function soundEnd(energy: Float32Array, from: number, to: number, limit = to): number {
  const isHeard = (frame: number) => (energy[frame] ?? SILENT) >= AUDIBLE_ENERGY;
  let end = to;
  while (end < limit && isHeard(end - 1) && isHeard(end)) end++;
  if (end > to && end === limit && isHeard(end)) return to;
  while (end > from + 1 && !isHeard(end - 1)) end--;
  return end;
}

/** The words of an utterance as their audio is given: each once, with the samples in which it begins. */
export class WordTimeline {
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

  /**
   * Places the words of a segment.
   *
   * @param text all that has been pulled
   * @param names of places among the words
   */
  place(
    words: readonly TimedWord[],
    text: string,
    placement: Placement,
    names: readonly TimedName[] = [],
  ): void {
    let next = 0;
    for (const { source, fromFrame, toFrame } of words) {
      for (; next < names.length && names[next]!.at <= source.from; next++) {
        const { name, at, frame } = names[next]!;
        this.mark(name, sampleOf(placement, frame), text, at);
      }
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

  /** Tells of a place with a name. @param sample of the utterance @param at in the text */
  mark(name: string, sample: number, text: string, at: number): void {
    if (sample >= this.#maxSamples) return;
    const timeS = sample / SAMPLE_RATE_HZ;
    const offset = this.#charactersBefore(text, at);
    const word = { word: "", mark: name, startS: timeS, endS: timeS, offset, length: 0 };
    this.#waiting.push({ word, atSample: sample });
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

/** The first frame that is heard of the sound that `planned` lies in or before; without a pause before it, `planned`. */
function soundStart(energy: Float32Array, planned: number, until: number): number {
  const isHeard = (frame: number) => (energy[frame] ?? SILENT) >= AUDIBLE_ENERGY;
  let start = planned;
  if (isHeard(start)) {
    const earliest = Math.max(0, planned - MAX_EARLY_FRAMES);
    while (start > earliest && isHeard(start - 1)) start--;
    return start > 0 && isHeard(start - 1) ? planned : start;
  }
  while (start < until - 1 && !isHeard(start)) start++;
  return start;
}

const SILENT = Number.NEGATIVE_INFINITY;

/**
 * 37.5 ms: how much earlier than its durations say the network sounds. It lies in the network and not in how its frames
 * become a waveform: pitch and energy, which it plans for those durations, lead them as the sound does. Found at words that
 * begin with an "s" or "sh" behind a vowel (70, both speakers: 42 ms in the middle) or end with one before a vowel
 * (28: 30 ms), and as the rise of the energy before the first phoneme (38 ms).
 */
const EARLY_FRAMES = 3;
/** 100 ms: behind a pause a word sounds at most so much before it is planned. */
const MAX_EARLY_FRAMES = 8;

/** Without what encloses it, and without spaces and signs that nobody sees. "f(x)" and "dogs’" are left whole. */
function trimmed(text: string, { from, to }: TextRange): TextRange {
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
