import type { TextPiece } from "../../core/marked-text.ts";

/** A text with its marks read. */
export interface ParsedMarkup {
  readonly piece: TextPiece;
  /** Code points of what is spoken: marks are none of it. */
  readonly spokenChars: number;
  /** What the marks ask for and is not done whoever speaks, each in a few words; few, and in ASCII. */
  readonly cautions: readonly string[];
}

/**
 * Finds the voice that a text names, of several names the first that there is: what its runs are to call it. Throws where there
 * is none, with words that say so.
 *
 * @param place where it is named, as {@link placeIn} says it
 */
export type FindVoice = (names: readonly string[], place: string) => string;

/** What is wrong with the marks of a text, and where. The message says what to do; it is a sentence without its full stop. */
export class MarkupError extends Error {
  override readonly name = "MarkupError";

  /** @param at place in the text, in UTF-16 units */
  constructor(text: string, at: number, problem: string) {
    super(`${placeIn(text, at)}: ${problem}`);
  }
}

/** A place as editors count it: lines and code points from 1. */
export function placeIn(text: string, at: number): string {
  const before = text.slice(0, at);
  const lineFrom = Math.max(before.lastIndexOf("\n"), before.lastIndexOf("\r")) + 1;
  const line = before.split(/\r\n|\n|\r/).length;
  return `line ${line}, column ${Array.from(before.slice(lineFrom)).length + 1}`;
}

/** `[pause:0.8s]` in a text. Places are of UTF-16 units. */
export interface PauseMark {
  readonly from: number;
  readonly to: number;
  readonly pauseS: number;
}

/** The longest silence that one mark may ask for, in seconds. */
export const MAX_PAUSE_S = 10;

const BEGINNING = "[pause:";
/** A number there can be meant as nothing else; "[pause: for effect]" is text. */
const MEANT = /^\[pause:\s*[-+.\d][^\]\n]{0,40}\]?/;
const WELL_FORMED = /^\[pause:\s*(\S+?)\s*(ms|s)\s*\]/;

/**
 * Where a text asks for silence, in a part of it or in all. Linear in the part.
 *
 * @throws MarkupError for a length that cannot be read, or is too long
 */
export function pauseMarks(text: string, begin = 0, end = text.length): PauseMark[] {
  const part = text.slice(begin, end);
  const marks: PauseMark[] = [];
  for (let at = part.indexOf(BEGINNING); at >= 0; at = part.indexOf(BEGINNING, at + 1)) {
    const from = begin + at;
    const here = part.slice(at, at + MAX_MARK_CHARS);
    if (!MEANT.test(here)) continue;
    const [mark = "", amount = "", unit = ""] = WELL_FORMED.exec(here) ?? [];
    const pauseS = secondsOf(`${amount}${unit}`);
    if (pauseS === null)
      throw new MarkupError(
        text,
        from,
        "[pause:…] has no length that can be read: write [pause:0.8s] or [pause:800ms]",
      );
    if (pauseS > MAX_PAUSE_S)
      throw new MarkupError(
        text,
        from,
        `[pause:…] may be at most ${MAX_PAUSE_S} s: make it shorter, or write several`,
      );
    marks.push({ from, to: from + mark.length, pauseS });
  }
  return marks;
}

/** A length of time as CSS and SSML write it (`800ms`, `0.8s`, `.5s`), in seconds; `null` for anything else. */
export function secondsOf(written: string): number | null {
  const [, amount, unit] = /^\+?(\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})(ms|s)$/.exec(written) ?? [];
  if (amount === undefined) return null;
  return unit === "ms" ? Number(amount) / 1_000 : Number(amount);
}

const MAX_MARK_CHARS = 64;
