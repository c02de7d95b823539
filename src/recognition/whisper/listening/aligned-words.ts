import type { TranscribedWord, TranscriptSegment } from "../../../core/recogniser.ts";
import { POSITION_S } from "../sizes.ts";
import { alignTokens } from "./alignment.ts";
import type { Decoded } from "./decode.ts";
import type { TokenWord } from "./words.ts";

/** A word said, with the tokens' figures. */
interface AlignedWord extends TranscribedWord {
  readonly logProbabilities: readonly number[];
}

/**
 * When the words are said.
 *
 * @param attention for each token that the decoder read, [heads, positions]
 * @param active which 20 ms of the clip are no pause: words are kept out of pauses
 * @param durationS the clip's
 */
export function alignWords(
  words: readonly TokenWord[],
  { firstRow, startRow, ids, logProbabilities }: Decoded,
  attention: readonly Float32Array[],
  heads: number,
  active: readonly boolean[],
  durationS: number,
): readonly AlignedWord[] {
  if (words.length === 0) return [];
  const rows = attention.slice(startRow, firstRow + ids.length + 1);
  const begins = alignTokens(rows, heads, firstRow - startRow);
  const spans = betweenPauses(
    words.map(({ from, to }) => [begins[from]!, Math.max(begins[to]!, begins[from]! + 1)]),
    active,
  );
  return words.map(({ text, from, to }, at) => {
    const [first, behind] = spans[at]!;
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

/** From where on, and to where, in frames of 20 ms. */
type Span = readonly [from: number, to: number];

/** Longer than a consonant holds its breath. */
const PAUSE_FRAMES = 5;

/**
 * The spans without the pauses between them: attention tells which word is on which side of a pause, but not where the
 * pause is. One that lies between the middles of two words is taken out of both.
 */
function betweenPauses(spans: readonly Span[], active: readonly boolean[]): readonly Span[] {
  const starts = spans.map(([from]) => from);
  const ends = spans.map(([, to]) => to);
  const middle = (at: number): number => Math.floor((spans[at]![0] + spans[at]![1]) / 2);
  for (let at = 0; at + 1 < spans.length; at++) {
    const [from, to] = maxPause(active, middle(at), middle(at + 1));
    if (to - from >= PAUSE_FRAMES) [ends[at], starts[at + 1]] = [from, to];
  }
  const last = spans.length - 1;
  while (starts[0]! < middle(0) && active[starts[0]!] !== true) starts[0]!++;
  while (ends[last]! > Math.max(middle(last), starts[last]! + 1) && active[ends[last]! - 1] !== true)
    ends[last]!--;
  // Words of a frame each may share it, and a pause that begins there: none ends before the one ahead of it.
  let behind = 0;
  return starts.map((start, at) => {
    behind = Math.max(behind, start, ends[at]!);
    return [start, behind];
  });
}

function maxPause(active: readonly boolean[], from: number, to: number): Span {
  let best: Span = [from, from];
  for (let at = from, since = from; at <= to; at++) {
    if (at < to && active[at] !== true) continue;
    if (at - since > best[1] - best[0]) best = [since, at];
    since = at + 1;
  }
  return best;
}

/** A pause that ends a segment wherever it is. */
const LONG_PAUSE_S = 1;

/** Marks that end a sentence, and what may stand behind them. */
const SENTENCE_END = /[.!?…。！？।؟]["'”’»)\]」』）]*$/u;
/** What has a full stop without ending a sentence. */
const ABBREVIATION = /^(?:\p{Lu}|mr|mrs|ms|dr|st|prof|sr|jr|vs|no|etc|e\.g|i\.e)\.$/iu;

/** Words in segments: a sentence each, or less where somebody pauses. @param glue what words are joined by */
export function segmentsOf(words: readonly AlignedWord[], glue: string): readonly TranscriptSegment[] {
  const groups: AlignedWord[][] = [];
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

function isEnd(last: AlignedWord, next: AlignedWord): boolean {
  if (next.startS - last.endS >= LONG_PAUSE_S) return true;
  return SENTENCE_END.test(last.text) && !ABBREVIATION.test(last.text) && !/^\p{Ll}/u.test(next.text);
}
