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
import { SPOKEN_RATES } from "./options.ts";

/** A place with a name, in UTF-16 units of all of the text as it was sent. */
export interface NamedPlace {
  readonly name: string;
  readonly at: number;
}

/** Between two segments, before the first or behind the last. */
export interface GapMarks {
  /** The silence, in seconds, in place of the one that would be there; `null` leaves that. */
  readonly breakS: number | null;
  /** Places with a name, and how much of that silence comes before and behind each. */
  readonly names: readonly (NamedPlace & { readonly afterS: number; readonly restS: number })[];
}

/** What marks ask for in a segment. */
export interface SegmentMarks {
  /** Who speaks it and how fast, where that is not as everything is. */
  readonly style: SegmentStyle | null;
  /** How each of its spoken words is said; `null` as everything is. */
  readonly manners: readonly RunManner[] | null;
  /** Places with a name behind its first word, and how many of its words come before each. */
  readonly inside: readonly (NamedPlace & { readonly words: number })[];
}

export interface SegmentStyle {
  /** As the script's `textVoices` have it; `null` is who speaks anyway. */
  readonly voice: string | null;
  /** 0.5 to 2: a factor. */
  readonly rate: number;
}

/** The marks of a piece of text, taken in their order while its sentences are read. */
export class PieceMarks {
  readonly written: string;
  /** Places are of this text, but for those that are said to be written. */
  readonly spoken: string;
  readonly #traced: RewrittenText;
  readonly #points: readonly MarkedPoint[];
  readonly #runs: readonly MarkedRun[];
  readonly #offset: number;
  #point = 0;
  #run = 0;

  /** @param offset of the piece in all of the text as it was sent */
  constructor(piece: TextPiece, offset: number) {
    const { edits, points, runs } = typeof piece === "string" ? NO_MARKS : piece;
    this.written = writtenText(piece);
    this.spoken = spokenText(piece);
    this.#traced = RewrittenText.of(this.written).edited(edits);
    this.#points = points;
    this.#runs = runs;
    this.#offset = offset;
  }

  /** Whether there is nothing to mark. */
  get isPlain(): boolean {
    return this.#points.length === 0 && this.#runs.length === 0;
  }

  /** Where a part that is not empty is written in all of the text. */
  sourceOf(span: TextRange): TextRange {
    const { from, to } = this.#traced.sourceOf(span);
    return { from: this.#offset + from, to: this.#offset + to };
  }

  /** Where a segment has to begin within [from, to): at silences, and where voice or tempo change. Counted from `from`. */
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

  /** Whether a silence is asked for in the space behind a place. */
  isPauseBehind(place: number): boolean {
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

  /** The points up to a place, each once. */
  pointsUntil(place: number): MarkedPoint[] {
    const begin = this.#point;
    while (this.#point < this.#points.length && this.#points[this.#point]!.at <= place) this.#point += 1;
    return this.#points
      .slice(begin, this.#point)
      .map((point) => ("mark" in point ? { ...point, writtenAt: this.#offset + point.writtenAt } : point));
  }

  /** What is asked for in a segment, by where its spoken words are; the points before its first word have been taken. */
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

  /** Places come in their order. */
  #runAt(place: number): MarkedRun | null {
    while (this.#run < this.#runs.length && this.#runs[this.#run]!.to <= place) this.#run += 1;
    const run = this.#runs[this.#run];
    return run !== undefined && run.from <= place ? run : null;
  }
}

/** What points ask for where they stand between segments. */
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

/** Whether who speaks, or a tempo that is not planned word by word, changes between two runs. */
function needsCut(before: MarkedRun | null, run: MarkedRun | null): boolean {
  if ((before?.voice ?? null) !== (run?.voice ?? null)) return true;
  const [a, b] = [before?.manner.rate ?? 1, run?.manner.rate ?? 1];
  return a !== b && [a, b].some((rate) => rate < SPOKEN_RATES.min || rate > SPOKEN_RATES.max);
}

function isPlain({ rate, pitch, pitchHz, addedHz, gain }: RunManner): boolean {
  return rate === 1 && pitch === 1 && pitchHz === null && addedHz === 0 && gain === 1;
}

const NO_MARKS = { edits: [], points: [], runs: [] } as const;
/** A longer space parts no sentences that belong together. */
const MAX_GAP = 200;
