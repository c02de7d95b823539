import { isSpaceCode } from "../../text/characters.ts";
import type { PhonemeSources } from "../../text/phonemes/sentence-phonemes.ts";
import type { TextRange } from "../../text/rewritten-text.ts";

/** Marks and the space come first in voices/heart/vocab.json, then phonemes. */
export const LAST_MARK_ID = 16;

export interface WordSpan {
  readonly from: number;
  readonly to: number;
}

export function wordSpans(ids: readonly number[]): WordSpan[] {
  const isWord = (index: number) => (ids[index] ?? 0) > LAST_MARK_ID;
  const starts = ids.flatMap((_, index) => (isWord(index) && !isWord(index - 1) ? [index] : []));
  return starts.map((from) => {
    let to = from;
    while (isWord(to)) to++;
    return { from, to };
  });
}

export function wordCount(ids: readonly number[]): number {
  return ids.filter((id, index) => id > LAST_MARK_ID && (ids[index - 1] ?? 0) <= LAST_MARK_ID).length;
}

/** The phonemes of a segment, and the count of its sentence's phonemes before them. */
export interface TracedPhonemes {
  readonly phonemes: string;
  readonly sources: PhonemeSources;
  readonly before: number;
}

/** Returns each word's place in its sentence, in the order of {@link wordSpans}. */
export function sourcesOfWords(
  { phonemes, sources, before }: TracedPhonemes,
  vocabulary: ReadonlyMap<string, number>,
): TextRange[] {
  const spans: TextRange[] = [];
  let sound = before;
  let [from, to] = [-1, -1];
  const endWord = () => {
    if (from >= 0) spans.push(sources.of(from, to));
    from = -1;
  };
  for (const phoneme of phonemes) {
    const id = vocabulary.get(phoneme);
    const next = phoneme === " " || isSpaceCode(phoneme.charCodeAt(0)) ? sound : sound + phoneme.length;
    // Phonemes that the voice does not know have no id and separate no words.
    if (id !== undefined && id > LAST_MARK_ID) {
      if (from < 0) from = sound;
      to = next;
    } else if (id !== undefined) endWord();
    sound = next;
  }
  endWord();
  return spans;
}
