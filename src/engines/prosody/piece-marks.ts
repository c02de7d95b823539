import {
  type MarkedPoint,
  type MarkedRun,
  PLAIN_MANNER,
  type RunManner,
  spokenText,
  type TextPiece,
  writtenText,
} from "../../core/marked-text.ts";
import { RewrittenText, type TextRange } from "../../text/rewritten-text.ts";
import { SPOKEN_RATES } from "./apply-manner.ts";

/** A named mark at a place in the text as sent, in UTF-16 units. */
export interface NamedPlace {
  readonly name: string;
  readonly at: number;
}

/** Marks between two segments, before the first or after the last. */
export interface GapMarks {
  /** Silence in seconds that replaces the usual one; `null` keeps that. */
  readonly breakS: number | null;
  /** Named marks, and the silence before and after each. */
  readonly names: readonly (NamedPlace & { readonly afterS: number; readonly restS: number })[];
}

export interface SegmentMarks {
  /** Voice and rate, if they differ from the utterance's. */
  readonly style: SegmentStyle | null;
  readonly manners: readonly RunManner[] | null;
  /** Named marks after its first word, with the count of words before each. */
  readonly inside: readonly (NamedPlace & { readonly words: number })[];
}

export interface SegmentStyle {
  /** A key of the script's `textVoices`; `null` for the usual voice. */
  readonly voice: string | null;
  readonly rate: number;
}

/** The marks of a piece of text, consumed in order while its sentences are read. */
export class PieceMarks {
  readonly written: string;
  /** Text without marks; places refer to it unless named `written…`. */
  readonly spoken: string;
  readonly #traced: RewrittenText;
  readonly #points: readonly MarkedPoint[];
  readonly #runs: readonly MarkedRun[];
  readonly #offset: number;
  #point = 0;
  #run = 0;

  /** @param offset of the piece in the text as sent */
  constructor(piece: TextPiece, offset: number) {
    const { edits, points, runs } = typeof piece === "string" ? NO_MARKS : piece;
    this.written = writtenText(piece);
    this.spoken = spokenText(piece);
    this.#traced = RewrittenText.of(this.written).edited(edits);
    this.#points = points;
    this.#runs = runs;
    this.#offset = offset;
  }

  /** Divides the text where `readerOf` differs between the voices of its runs; space belongs to what precedes it. */
  splitByVoice<T>(readerOf: (voice: string | null) => T): readonly (TextRange & { readonly of: T })[] {
    const parts: (TextRange & { readonly of: T })[] = [];
    const add = (to: number, voice: string | null) => {
      const last = parts.at(-1);
      const from = last?.to ?? 0;
      if (to <= from) return;
      const value = last && this.spoken.slice(from, to).trim() === "" ? last.of : readerOf(voice);
      if (last?.of === value) parts[parts.length - 1] = { ...last, to };
      else parts.push({ from, to, of: value });
    };
    for (const { from, to, voice } of this.#runs) {
      add(from, null);
      add(to, voice);
    }
    add(this.spoken.length, null);
    return parts;
  }

  get isPlain(): boolean {
    return this.#points.length === 0 && this.#runs.length === 0;
  }

  /** Returns where a non-empty span stands in the text as sent. */
  sourceOf(span: TextRange): TextRange {
    const { from, to } = this.#traced.sourceOf(span);
    return { from: this.#offset + from, to: this.#offset + to };
  }

  /** Returns where segments must begin within [from, to), relative to `from`: at silences, new voices and tempos. */
  cuts(from: number, to: number): number[] {
    const places: number[] = [];
    for (let at = this.#point; at < this.#points.length && this.#points[at]!.at < to; at++) {
      const point = this.#points[at]!;
      if ("pauseS" in point && point.pauseS > 0 && point.at > from) places.push(point.at);
    }
    let before: MarkedRun | null = null;
    for (let at = this.#run; at < this.#runs.length; at++) {
      const run = this.#runs[at]!;
      const isNext = before?.to === run.from;
      if (before !== null && !isNext && needsCut(before, null)) places.push(before.to);
      if (run.from >= to) break;
      if (needsCut(isNext ? before : null, run)) places.push(run.from);
      before = run;
      if (at === this.#runs.length - 1 && needsCut(run, null)) places.push(run.to);
    }
    const inside = new Set(places.filter((place) => place > from && place < to));
    return [...inside].sort((a, b) => a - b).map((place) => place - from);
  }

  /** Whether the text asks for silence in the space after a place. */
  hasPauseAfter(place: number): boolean {
    let [low, high] = [0, this.#points.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#points[middle]!.at < place) low = middle + 1;
      else high = middle;
    }
    for (let at = low; at < this.#points.length; at++) {
      const point = this.#points[at]!;
      if (point.at - place > MAX_GAP || this.spoken.slice(place, point.at).trim() !== "") return false;
      if ("pauseS" in point) return true;
    }
    return false;
  }

  pointsUntil(place: number): MarkedPoint[] {
    const begin = this.#point;
    while (this.#point < this.#points.length && this.#points[this.#point]!.at <= place) this.#point += 1;
    return this.#points
      .slice(begin, this.#point)
      .map((point) => ("mark" in point ? { ...point, writtenAt: this.#offset + point.writtenAt } : point));
  }

  /** Returns the marks of a segment by its words' places. Points before its first word were consumed already. */
  segment(words: readonly TextRange[]): SegmentMarks {
    const inside = this.pointsUntil(words.at(-1)?.from ?? 0).flatMap((point) =>
      "mark" in point
        ? [
            {
              name: point.mark,
              at: point.writtenAt,
              words: words.filter(({ from }) => from < point.at).length,
            },
          ]
        : [],
    );
    const runs = words.map(({ from }) => this.#runAt(from));
    const manners = runs.map((run) => run?.manner ?? PLAIN_MANNER);
    const rate = manners[0]?.rate ?? 1;
    const isEven = manners.every((manner) => manner.rate === rate);
    const own = isEven ? manners.map((manner) => ({ ...manner, rate: 1 })) : manners;
    const voice = runs[0]?.voice ?? null;
    return {
      style: voice === null && (rate === 1 || !isEven) ? null : { voice, rate: isEven ? rate : 1 },
      manners: own.every(isPlain) ? null : own,
      inside,
    };
  }

  /** Places must not decrease between calls. */
  #runAt(place: number): MarkedRun | null {
    while (this.#run < this.#runs.length && this.#runs[this.#run]!.to <= place) this.#run += 1;
    const run = this.#runs[this.#run];
    return run !== undefined && run.from <= place ? run : null;
  }
}

/** Returns the marks between segments. */
export function gapOf(points: readonly MarkedPoint[]): GapMarks {
  const pauses = points.flatMap((point) => ("pauseS" in point ? [point.pauseS] : []));
  const totalS = pauses.reduce((sum, pauseS) => sum + pauseS, 0);
  const names: GapMarks["names"][number][] = [];
  let afterS = 0;
  for (const point of points) {
    if ("pauseS" in point) afterS += point.pauseS;
    else names.push({ name: point.mark, at: point.writtenAt, afterS, restS: totalS - afterS });
  }
  return { breakS: pauses.length === 0 ? null : totalS, names };
}

/** Whether the voice, or a tempo that cannot be planned by word, changes between two runs. */
function needsCut(before: MarkedRun | null, run: MarkedRun | null): boolean {
  if ((before?.voice ?? null) !== (run?.voice ?? null)) return true;
  const [a, b] = [before?.manner.rate ?? 1, run?.manner.rate ?? 1];
  return a !== b && [a, b].some((rate) => rate < SPOKEN_RATES.min || rate > SPOKEN_RATES.max);
}

function isPlain({ rate, pitch, pitchHz, addedHz, gain }: RunManner): boolean {
  return rate === 1 && pitch === 1 && pitchHz === null && addedHz === 0 && gain === 1;
}

const NO_MARKS = { edits: [], points: [], runs: [] } as const;
/** Longest space within which a pause belongs to the sentence before. */
const MAX_GAP = 200;
