import { MarkupError } from "./markup.ts";

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
