import type { TranscribedWord, TranscriptSegment } from "../../core/recogniser.ts";
import type { BytePairs } from "../../onnx/byte-pairs.ts";
import type { DecodedWindow } from "./decode.ts";
import { POSITION_S } from "./description.ts";

/** A word with the log-probabilities of its tokens. */
interface AlignedWord extends TranscribedWord {
  readonly logProbabilities: readonly number[];
}

/**
 * Finds when each word is spoken.
 *
 * @param attention per token, [heads, positions]
 * @param active per 20 ms frame, whether it is outside pauses, as words have to be
 * @param durationS duration of the clip
 */
export function alignWords(
  words: readonly TokenWord[],
  { firstRow, startRow, ids, logProbabilities }: DecodedWindow,
  attention: readonly Float32Array[],
  heads: number,
  active: readonly boolean[],
  durationS: number,
): readonly AlignedWord[] {
  if (words.length === 0) return [];
  const rows = attention.slice(startRow, firstRow + ids.length + 1);
  const begins = alignTokens(rows, heads, firstRow - startRow);
  const spans = trimPauses(
    words.map(({ from, to }) => [begins[from]!, Math.max(begins[to]!, begins[from]! + 1)]),
    active,
  );
  return words.map(({ text, from, to }, at) => {
    const [first, end] = spans[at]!;
    const own = logProbabilities.slice(from, to);
    const mean = own.reduce((sum, value) => sum + Math.exp(value), 0) / own.length;
    return {
      text,
      startS: Math.max(0, Math.min(first * POSITION_S, durationS - POSITION_S)),
      endS: Math.min(end * POSITION_S, durationS),
      probability: Math.min(1, mean),
      logProbabilities: own,
    };
  });
}

/** A range of 20 ms frames. */
type Span = readonly [from: number, to: number];

/** Shortest pause, in frames: longer than the closure of a consonant. */
const MIN_PAUSE_FRAMES = 5;

/**
 * Removes pauses between words. Attention shows on which side of a pause a word is, but not where the pause is: one
 * between the middles of two words is taken out of both.
 */
function trimPauses(spans: readonly Span[], active: readonly boolean[]): readonly Span[] {
  const starts = spans.map(([from]) => from);
  const ends = spans.map(([, to]) => to);
  const middles = spans.map((span) => middleOf(span, active));
  for (let at = 0; at + 1 < spans.length; at++) {
    const [from, to] = longestPause(active, middles[at]!, middles[at + 1]!);
    if (to - from >= MIN_PAUSE_FRAMES) [ends[at], starts[at + 1]] = [from, to];
  }
  const last = spans.length - 1;
  while (starts[0]! < middles[0]! && active[starts[0]!] !== true) starts[0]!++;
  while (ends[last]! > Math.max(middles[last]!, starts[last]! + 1) && active[ends[last]! - 1] !== true)
    ends[last]!--;
  // Words of one frame may lie in a pause: keep all in order, each at least a frame long.
  let to = 0;
  return starts.map((start, at) => {
    const from = Math.max(to, start);
    to = Math.max(from + 1, ends[at]!);
    return [from, to];
  });
}

/** Returns the median active frame of a span: it is in the word even if most of the span is a pause. */
function middleOf([from, to]: Span, active: readonly boolean[]): number {
  const frames = Array.from({ length: to - from }, (_, at) => from + at).filter((at) => active[at] === true);
  return frames[frames.length >> 1] ?? (from + to) >> 1;
}

function longestPause(active: readonly boolean[], from: number, to: number): Span {
  let best: Span = [from, from];
  for (let at = from, since = from; at <= to; at++) {
    if (at < to && active[at] !== true) continue;
    if (at - since > best[1] - best[0]) best = [since, at];
    since = at + 1;
  }
  return best;
}

/** A pause that always ends a segment. */
const LONG_PAUSE_S = 1;

/** Sentence-final punctuation and closing marks. */
const SENTENCE_END = /[.!?…。！？।؟]["'”’»)\]」』）]*$/u;
/** Words with a full stop that ends no sentence. */
const ABBREVIATION = /^(?:\p{Lu}|mr|mrs|ms|dr|st|prof|sr|jr|vs|no|etc|e\.g|i\.e)\.$/iu;

/** Groups words into segments, split at sentence ends and long pauses. @param glue separator between words */
export function groupSegments(words: readonly AlignedWord[], glue: string): readonly TranscriptSegment[] {
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

/** A word and its range of tokens. */
export interface TokenWord {
  /** Trimmed text, with adjacent punctuation. */
  readonly text: string;
  readonly from: number;
  /** End of the range, exclusive. */
  readonly to: number;
}

/** Languages written without spaces: each character counts as a word. */
export const WITHOUT_SPACES: ReadonlySet<string> = new Set(["zh", "ja", "th", "lo", "my", "yue"]);

const ONLY_MARKS = /^[\p{P}\p{S}\s]*$/u;
const OPENING = /^\s*[\p{Ps}\p{Pi}"'“‘«¿¡]+$/u;

/** Splits tokens into words. Each token belongs to one word, and no word is empty unless there are none. */
export function splitWords(ids: readonly number[], pairs: BytePairs, language: string): readonly TokenWord[] {
  const isSpaced = !WITHOUT_SPACES.has(language);
  const groups: TokenWord[] = [];
  for (const next of wholeCharacters(ids, pairs)) {
    const last = groups.at(-1);
    const joins = last !== undefined && isSpaced && !/^\s/.test(next.text);
    if (joins) groups[groups.length - 1] = joined(last, next);
    else groups.push(next);
  }
  const words: TokenWord[] = [];
  let opening: TokenWord | null = null;
  for (const group of groups) {
    const whole: TokenWord = opening === null ? group : joined(opening, group);
    opening = null;
    if (!ONLY_MARKS.test(whole.text)) words.push(whole);
    else if (words.length === 0 || OPENING.test(whole.text)) opening = whole;
    else words[words.length - 1] = joined(words.at(-1)!, whole);
  }
  if (opening !== null && words.length > 0) words[words.length - 1] = joined(words.at(-1)!, opening);
  return words.map((word) => ({ ...word, text: word.text.trim() }));
}

function joined(first: TokenWord, second: TokenWord): TokenWord {
  return { text: first.text + second.text, from: first.from, to: second.to };
}

/** Groups tokens into whole characters. */
function wholeCharacters(ids: readonly number[], pairs: BytePairs): TokenWord[] {
  const found: TokenWord[] = [];
  let from = 0;
  for (let to = 1; to <= ids.length; to++) {
    const text = pairs.decode(ids.slice(from, to));
    // A character has at most 4 bytes: later ones will not complete it.
    if (text.endsWith("\uFFFD") && to - from < 4 && to < ids.length) continue;
    found.push({ text, from, to });
    from = to;
  }
  return found;
}

/** Width of the median filter, in positions. */
const SMOOTHING = 7;

/**
 * Finds when each token is spoken by dynamic time warping over the decoder's cross-attention: per head normalised
 * over the tokens and median-filtered, then averaged over the heads (`timing.py` of OpenAI's `whisper`).
 *
 * @param rows per token [heads, positions], including the prompt's, for normalisation
 * @param first row of the first token to place; the last row follows the last token
 * @returns the position where each token begins, then where the last one ends; never decreasing
 */
export function alignTokens(rows: readonly Float32Array[], heads: number, first: number): number[] {
  const positions = rows[0]!.length / heads;
  const count = rows.length - first;
  const mean = Array.from({ length: count }, () => new Float64Array(positions));
  for (let head = 0; head < heads; head++) {
    const own = rows.map((row) => normalisedShares(row.subarray(head * positions, (head + 1) * positions)));
    normalise(own);
    for (let at = 0; at < count; at++) addMedians(own[first + at]!, mean[at]!);
  }
  return begins(warpTime(mean), count);
}

/** Scales a row to sum 1. */
function normalisedShares(row: Float32Array): Float64Array {
  const sum = row.reduce((total, value) => total + value, 0);
  return Float64Array.from(row, (value) => (sum > 0 ? value / sum : 1 / row.length));
}

/** Standardises each position over the tokens. */
function normalise(rows: readonly Float64Array[]): void {
  for (let at = 0; at < rows[0]!.length; at++) {
    const mean = rows.reduce((sum, row) => sum + row[at]!, 0) / rows.length;
    const variance = rows.reduce((sum, row) => sum + (row[at]! - mean) ** 2, 0) / rows.length;
    const deviation = Math.sqrt(variance);
    for (const row of rows) row[at] = deviation > 0 ? (row[at]! - mean) / deviation : 0;
  }
}

/** Adds the running median, with mirrored ends. */
function addMedians(row: Float64Array, into: Float64Array): void {
  const half = (SMOOTHING - 1) / 2;
  if (row.length <= half) {
    row.forEach((value, at) => {
      into[at]! += value;
    });
    return;
  }
  const around = new Float64Array(SMOOTHING);
  for (let at = 0; at < row.length; at++) {
    for (let by = -half; by <= half; by++) {
      const index = Math.abs(at + by);
      insert(around, by + half, row[index < row.length ? index : 2 * (row.length - 1) - index]!);
    }
    into[at]! += around[half]!;
  }
}

/** Inserts into the sorted first `count` values: faster than sorting so few. */
function insert(sorted: Float64Array, count: number, value: number): void {
  let at = count;
  for (; at > 0 && sorted[at - 1]! > value; at--) sorted[at] = sorted[at - 1]!;
  sorted[at] = value;
}

/** Finds the path of maximum sum from the first token and position to the last. */
function warpTime(gains: readonly Float64Array[]): (readonly [token: number, position: number])[] {
  const [rows, columns] = [gains.length, gains[0]!.length];
  const width = columns + 1;
  const cost = new Float64Array((rows + 1) * width).fill(Number.POSITIVE_INFINITY);
  const steps = new Uint8Array((rows + 1) * width);
  cost[0] = 0;
  for (let row = 1; row <= rows; row++) {
    for (let column = 1; column <= columns; column++) {
      const at = row * width + column;
      const [both, token, position] = [cost[at - width - 1]!, cost[at - width]!, cost[at - 1]!];
      const isBoth = both < token && both < position;
      const isToken = !isBoth && token < both && token < position;
      steps[at] = isBoth ? BOTH : isToken ? TOKEN : POSITION;
      cost[at] = (isBoth ? both : isToken ? token : position) - gains[row - 1]![column - 1]!;
    }
  }
  const path: (readonly [number, number])[] = [];
  for (let [row, column] = [rows, columns]; row > 0 && column > 0; ) {
    path.push([row - 1, column - 1]);
    const step = steps[row * width + column]!;
    if (step !== POSITION) row--;
    if (step !== TOKEN) column--;
  }
  return path.reverse();
}

const [BOTH, TOKEN, POSITION] = [0, 1, 2] as const;

function begins(path: readonly (readonly [number, number])[], count: number): number[] {
  const found = new Array<number>(count).fill(0);
  let last = -1;
  for (const [token, position] of path) {
    // A token that the path skips begins with the next one.
    for (; last < token; last++) found[last + 1] = position;
  }
  return found;
}
