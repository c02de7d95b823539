import type { Caption } from "./captions.ts";

/** A word of a reply, as `meta.words` has it: seconds, and its place in the text in code points. */
export interface CaptionedWord {
  readonly start: number;
  readonly end: number;
  readonly offset: number;
  readonly length: number;
}

/** How captions are cut. */
export interface CaptionOptions {
  /** Characters in a line; there are two at most. A word that is longer stays whole. */
  readonly lineChars?: number;
  readonly longestS?: number;
  /** Whether captions know when each of their words begins. */
  readonly hasWordTimes?: boolean;
}

/**
 * The captions of a spoken text: one a sentence, and a sentence that is too long for two lines or lasts too long cut at
 * its commas, else between words. What only an editor would show is left out. A text of which nothing was heard has none.
 */
export function captionsOf(
  text: string,
  words: readonly CaptionedWord[],
  { lineChars = 42, longestS = 6, hasWordTimes = false }: CaptionOptions = {},
): Caption[] {
  const written = writtenWords(text, words);
  const captions: Caption[] = [];
  let from = 0;
  for (const [index, { endsSentence }] of written.entries()) {
    if (!endsSentence && index < written.length - 1) continue;
    cut(written.slice(from, index + 1));
    from = index + 1;
  }
  return captions;

  function cut(piece: readonly Written[]): void {
    const lines = inTwoLines(piece, lineChars);
    const first = piece[0]!;
    const last = piece.at(-1)!;
    if (piece.length === 1 || (lines !== null && last.endS - first.startS <= longestS)) {
      captions.push(captionOf(lines ?? [piece], hasWordTimes));
      return;
    }
    const at = breakIn(piece);
    cut(piece.slice(0, at));
    cut(piece.slice(at));
  }
}

/** A word with the marks before and behind it. */
interface Written {
  readonly text: string;
  readonly startS: number;
  readonly endS: number;
  readonly endsSentence: boolean;
  readonly endsClause: boolean;
}

function writtenWords(text: string, words: readonly CaptionedWord[]): Written[] {
  const characters = [...text];
  const between = (from: number, to?: number) => characters.slice(from, to).join("");
  let opening = marksAround(` ${between(0, words[0]?.offset ?? 0)}`).opening;
  return words.map(({ start, end, offset, length }, index) => {
    const gap = between(offset + length, words[index + 1]?.offset);
    const { closing, opening: next } = marksAround(gap);
    const word = between(offset, offset + length).replace(/\s+/gu, " ");
    const pauseS = (words[index + 1]?.start ?? Number.POSITIVE_INFINITY) - end;
    const written = {
      text: `${opening}${word}${closing}`,
      startS: start,
      endS: end,
      // "at 5 p.m. Then": where a word's own full stop ends the sentence too, the voice breaks off.
      endsSentence:
        /[.!?…]/u.test(closing) ||
        (word.endsWith(".") && pauseS >= SENTENCE_PAUSE_S) ||
        /[\r\n]\s*[\r\n]/u.test(gap),
      endsClause: /[,;:—–]/u.test(closing),
    };
    opening = next;
    return written;
  });
}

/** What stands between two words: marks that close the first, and, behind a space, marks that open the second. */
function marksAround(gap: string): { readonly closing: string; readonly opening: string } {
  const shown = gap
    .replace(/\]\([^)]*\)/gu, "")
    .replace(/<[^>]*>/gu, "")
    .replace(/[*_~`#[\]|<>]/gu, "");
  const [, closing = "", behind = ""] = /^(\S*)\s*(.*)$/su.exec(shown) ?? [];
  // "word — word": a dash by itself ends the line that it stands in.
  const dash = /^[—–-]+(?=\s|$)/u.exec(behind)?.[0] ?? "";
  return {
    closing: dash === "" ? closing : `${closing} ${dash}`,
    opening: behind.slice(dash.length).trimStart().replace(/\s+/gu, " "),
  };
}

/** Lines of so many characters, as even as can be: one, or two; `null` where there would be more. */
function inTwoLines(piece: readonly Written[], lineChars: number): (readonly Written[])[] | null {
  if (lengthOf(piece) <= lineChars) return [piece];
  let best: (readonly Written[])[] | null = null;
  let longest = lineChars + 1;
  for (let at = 1; at < piece.length; at++) {
    const lines = [piece.slice(0, at), piece.slice(at)];
    const length = Math.max(...lines.map(lengthOf));
    if (length < longest) [best, longest] = [lines, length];
  }
  return best;
}

/** Before which word to cut: behind the comma that is nearest the middle, unless only a few words stood by themselves. */
function breakIn(piece: readonly Written[]): number {
  const whole = lengthOf(piece);
  const nearest = (isMeant: (at: number) => boolean) => {
    let best = 0;
    let distance = Number.POSITIVE_INFINITY;
    for (let at = 1; at < piece.length; at++) {
      const off = Math.abs(lengthOf(piece.slice(0, at)) - whole / 2);
      if (isMeant(at) && off < distance) [best, distance] = [at, off];
    }
    return { best, distance };
  };
  const clause = nearest((at) => piece[at - 1]!.endsClause);
  return clause.distance <= FARTHEST_COMMA * whole ? clause.best : nearest(() => true).best;
}

/** The voice pauses longer between sentences, and hardly inside of one. */
const SENTENCE_PAUSE_S = 0.3;

/** From the middle, as a share of the whole. */
const FARTHEST_COMMA = 0.35;

function captionOf(lines: readonly (readonly Written[])[], hasWordTimes: boolean): Caption {
  const all = lines.flat();
  const wordTimes: { at: number; startS: number }[] = [];
  let text = "";
  for (const [number, line] of lines.entries()) {
    for (const [index, word] of line.entries()) {
      if (index > 0) text += " ";
      else if (number > 0) text += "\n";
      wordTimes.push({ at: text.length, startS: word.startS });
      text += word.text;
    }
  }
  const times = { startS: all[0]!.startS, endS: all.at(-1)!.endS };
  return hasWordTimes ? { ...times, text, wordTimes } : { ...times, text };
}

function lengthOf(piece: readonly Written[]): number {
  return piece.reduce((sum, { text }) => sum + [...text].length + 1, -1);
}
