import { FRAMES_PER_STEP } from "./geometry.ts";
import type { Plan } from "./plan.ts";

/** In voices/heart/vocab.json marks and the space come first, then phonemes. */
export const LAST_MARK_ID = 16;

/** How many words of a plan have been heard to their end when `frame` begins. */
export function wordsHeard({ ids, steps }: Pick<Plan, "ids" | "steps">, frame: number): number {
  let words = 0;
  let isInWord = false;
  let end = 0;
  ids.forEach((id, index) => {
    const isWord = id > LAST_MARK_ID;
    if (isInWord && !isWord && end <= frame) words += 1;
    isInWord = isWord;
    end += steps[index]! * FRAMES_PER_STEP;
  });
  return words;
}

/** A word among phoneme ids: [from, to). */
export interface WordSpan {
  readonly from: number;
  readonly to: number;
}

/** Where each word begins and ends. */
export function wordSpans(ids: readonly number[]): WordSpan[] {
  const isWord = (index: number) => (ids[index] ?? 0) > LAST_MARK_ID;
  const starts = ids.flatMap((_, index) => (isWord(index) && !isWord(index - 1) ? [index] : []));
  return starts.map((from) => {
    let to = from;
    while (isWord(to)) to++;
    return { from, to };
  });
}

/** How many words a plan has. */
export function wordCount(ids: readonly number[]): number {
  return ids.filter((id, index) => id > LAST_MARK_ID && (ids[index - 1] ?? 0) <= LAST_MARK_ID).length;
}

/**
 * The beginning of a text of which `heard` out of `all` spoken words were heard. Where the text has another number of
 * words than were spoken ("$5" is two), the share decides.
 */
export function textHeard(text: string, heard: number, all: number): string {
  const words = [...text.matchAll(/\S+/g)];
  const count = words.length === all ? heard : Math.floor((heard * words.length) / Math.max(1, all));
  const last = words[Math.min(count, words.length) - 1];
  return last === undefined ? "" : text.slice(0, last.index + last[0].length);
}
