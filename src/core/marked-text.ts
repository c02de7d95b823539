/** Text for an engine: plain, or with marks. */
export type TextPiece = string | MarkedText;

/**
 * A text with instructions on how to speak it. Plain data, so that it can cross threads. Offsets are UTF-16 units of
 * the spoken text unless stated otherwise; every list is sorted by offset.
 */
export interface MarkedText {
  /** The text as sent. Word offsets refer to it. */
  readonly written: string;
  /** Replacements of written text; offsets of the written text, never overlapping. */
  readonly edits: readonly TextEdit[];
  readonly points: readonly MarkedPoint[];
  /** Never overlapping. Text outside of them has no special manner. */
  readonly runs: readonly MarkedRun[];
}

/** A part of the written text and the words spoken instead. */
export interface TextEdit {
  readonly from: number;
  readonly to: number;
  readonly words: string;
}

/**
 * A place between words: either a pause, which replaces the voice's own (`isUsual` if no longer than one between
 * sentences), or a named mark.
 */
export type MarkedPoint =
  | { readonly at: number; readonly pauseS: number; readonly isUsual?: true }
  | { readonly at: number; readonly mark: string; readonly writtenAt: number };

/** A part of the spoken text with its own manner or voice. */
export interface MarkedRun {
  readonly from: number;
  readonly to: number;
  readonly manner: RunManner;
  /** Key of the script's `textVoices`; `null` for the script's voice. */
  readonly voice: string | null;
}

/** How some words are spoken, relative to the surrounding text. */
export interface RunManner {
  /** 0.5 to 2. Above 1 is faster. */
  readonly rate: number;
  /** Factor, 0.5 to 2. */
  readonly pitch: number;
  /** Median pitch in hertz before the factor; `null` for the voice's own. */
  readonly pitchHz: number | null;
  /** Hertz added to the pitch. */
  readonly addedHz: number;
  /** Factor on the samples, 0 to 2. */
  readonly gain: number;
}

export const PLAIN_MANNER: RunManner = { rate: 1, pitch: 1, pitchHz: null, addedHz: 0, gain: 1 };

/** Returns the words as they are spoken. */
export function spokenText(piece: TextPiece): string {
  if (typeof piece === "string") return piece;
  const { written, edits } = piece;
  let spoken = "";
  let at = 0;
  for (const { from, to, words } of edits) {
    spoken += written.slice(at, from) + words;
    at = to;
  }
  return spoken + written.slice(at);
}

/** Returns the text as it was sent. */
export function writtenText(piece: TextPiece): string {
  return typeof piece === "string" ? piece : piece.written;
}

/** Returns the total length of the requested pauses, in seconds. */
export function pausesS(piece: TextPiece): number {
  if (typeof piece === "string") return 0;
  return askedPauses(piece).reduce((sum, { pauseS }) => sum + pauseS, 0);
}

/** Returns the slowest and the fastest rate of any part. */
export function ratesOf(piece: TextPiece): { readonly slowest: number; readonly fastest: number } {
  let [slowest, fastest] = [1, 1];
  for (const { manner } of typeof piece === "string" ? [] : piece.runs) {
    slowest = Math.min(slowest, manner.rate);
    fastest = Math.max(fastest, manner.rate);
  }
  return { slowest, fastest };
}

/** Returns the pauses that the text itself requests. */
export function askedPauses({ points }: MarkedText): { readonly at: number; readonly pauseS: number }[] {
  return points.flatMap((point) => ("pauseS" in point && point.isUsual !== true ? [point] : []));
}
