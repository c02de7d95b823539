import type { HeardWord } from "../../../model/recogniser.ts";
import { alignTokens } from "./alignment.ts";
import type { Decoded } from "./decode.ts";
import { POSITION_S } from "./rate.ts";
import type { TokenWord } from "./words.ts";

/** A word said, with the tokens' figures. */
export interface PlacedWord extends HeardWord {
  readonly logProbabilities: readonly number[];
}

/**
 * When the words are said.
 *
 * @param attention for each token that the decoder read, [heads, positions]
 * @param active which 20 ms of the clip are no pause: words are kept out of pauses
 * @param durationS the clip's
 */
export function placedWords(
  words: readonly TokenWord[],
  { firstRow, startRow, ids, logProbabilities }: Decoded,
  attention: readonly Float32Array[],
  heads: number,
  active: readonly boolean[],
  durationS: number,
): readonly PlacedWord[] {
  if (words.length === 0) return [];
  const rows = attention.slice(startRow, firstRow + ids.length + 1);
  const begins = alignTokens(rows, heads, firstRow - startRow);
  return words.map(({ text, from, to }) => {
    const [first, behind] = withoutPauses(begins[from]!, Math.max(begins[to]!, begins[from]! + 1), active);
    const own = logProbabilities.slice(from, to);
    const mean = own.reduce((sum, value) => sum + Math.exp(value), 0) / own.length;
    return {
      text,
      startS: Math.min(first * POSITION_S, durationS),
      endS: Math.min(behind * POSITION_S, durationS),
      probability: Math.min(1, mean),
      logProbabilities: own,
    };
  });
}

/** The stretch without the pauses at its ends, unless it is all pause. */
function withoutPauses(from: number, to: number, active: readonly boolean[]): [from: number, to: number] {
  let [first, behind] = [from, to];
  while (first < behind && active[first] !== true) first++;
  while (behind > first && active[behind - 1] !== true) behind--;
  return first < behind ? [first, behind] : [from, to];
}
