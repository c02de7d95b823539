/** Text as an engine is given it: words alone, or words with marks. */
export type TextPiece = string | MarkedText;

/**
 * A text that says how it is spoken. Plain data, so that it crosses threads. Places are of UTF-16 units of the spoken text
 * unless they are said to be of the written one; every list is in the order of its places.
 */
export interface MarkedText {
  /** As it was sent: the offsets of words count in it. */
  readonly written: string;
  /** What of it is written otherwise to be spoken: places of the written text, none over another. */
  readonly edits: readonly TextEdit[];
  readonly points: readonly MarkedPoint[];
  /** None over another. What lies in none is spoken as everything is. */
  readonly runs: readonly MarkedRun[];
}

/** A part of the written text and what is spoken in its place. */
export interface TextEdit {
  readonly from: number;
  readonly to: number;
  readonly words: string;
}

/**
 * A place between words: a silence, in place of the one that the voice would make there, which is usual where it is no more
 * than belongs between two sentences; or one that has a name.
 */
export type MarkedPoint =
  | { readonly at: number; readonly pauseS: number; readonly isUsual?: true }
  | { readonly at: number; readonly mark: string; readonly writtenAt: number };

/** A part of the spoken text that is spoken in its own way. */
export interface MarkedRun {
  readonly from: number;
  readonly to: number;
  readonly manner: RunManner;
  /** Who speaks it, as the script's `textVoices` have it; `null` is who speaks anyway. */
  readonly voice: string | null;
}

/** How a few words are spoken, against those around them. */
export interface RunManner {
  /** 0.5 to 2; above 1 is faster. */
  readonly rate: number;
  /** Factor on the pitch: 0.5 to 2. */
  readonly pitch: number;
  /** Where the middle of the pitch lies, in hertz, before the factor; `null` is where the voice has it. */
  readonly pitchHz: number | null;
  /** Added to the pitch, in hertz. */
  readonly addedHz: number;
  /** Factor on the samples: 0 to 2. */
  readonly gain: number;
}

/** The manner of everything. */
export const PLAIN_MANNER: RunManner = { rate: 1, pitch: 1, pitchHz: null, addedHz: 0, gain: 1 };

/** The words of a piece as they are spoken. */
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

/** A piece as it was sent. */
export function writtenText(piece: TextPiece): string {
  return typeof piece === "string" ? piece : piece.written;
}

/** The silences that a piece asks for, together, in seconds. */
export function pausesS(piece: TextPiece): number {
  if (typeof piece === "string") return 0;
  return askedPauses(piece).reduce((sum, { pauseS }) => sum + pauseS, 0);
}

/** The rates of a piece's words, from the slowest to the fastest. */
export function ratesOf(piece: TextPiece): { readonly slowest: number; readonly fastest: number } {
  let [slowest, fastest] = [1, 1];
  for (const { manner } of typeof piece === "string" ? [] : piece.runs) {
    slowest = Math.min(slowest, manner.rate);
    fastest = Math.max(fastest, manner.rate);
  }
  return { slowest, fastest };
}

/** The silences that a text asks for itself. */
export function askedPauses({ points }: MarkedText): { readonly at: number; readonly pauseS: number }[] {
  return points.flatMap((point) => ("pauseS" in point && point.isUsual !== true ? [point] : []));
}
