import type { HeardSegment } from "../../../model/recogniser.ts";
import type { PlacedWord } from "./placed-words.ts";

/** A pause that ends a segment wherever it is. */
const LONG_PAUSE_S = 1;

/** Marks that end a sentence, and what may stand behind them. */
const SENTENCE_END = /[.!?…。！？।؟]["'”’»)\]」』）]*$/u;
/** What has a full stop without ending a sentence. */
const ABBREVIATION = /^(?:\p{Lu}|mr|mrs|ms|dr|st|prof|sr|jr|vs|no|etc|e\.g|i\.e)\.$/iu;

/** Words in segments: a sentence each, or less where somebody pauses. @param glue what words are joined by */
export function segmentsOf(words: readonly PlacedWord[], glue: string): readonly HeardSegment[] {
  const groups: PlacedWord[][] = [];
  words.forEach((word, at) => {
    const last = words[at - 1];
    if (last === undefined || isEnd(last, word)) groups.push([word]);
    else groups.at(-1)!.push(word);
  });
  return groups.map((group) => {
    const all = group.flatMap(({ logProbabilities }) => logProbabilities);
    return {
      startS: group[0]!.startS,
      endS: group.at(-1)!.endS,
      text: group.map(({ text }) => text).join(glue),
      words: group.map(({ text, startS, endS, probability }) => ({ text, startS, endS, probability })),
      meanLogProbability: all.reduce((sum, value) => sum + value, 0) / all.length,
    };
  });
}

function isEnd(last: PlacedWord, next: PlacedWord): boolean {
  if (next.startS - last.endS >= LONG_PAUSE_S) return true;
  return SENTENCE_END.test(last.text) && !ABBREVIATION.test(last.text) && !/^\p{Ll}/u.test(next.text);
}
