/** One caption: what is shown, at most two lines of it, and from when to when, in seconds. */
export interface Cue {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Where in `text` words begin, in UTF-16 units, and when: WebVTT shows them as they come. */
  readonly words?: readonly { readonly at: number; readonly start: number }[];
}

/** A word of a reply, as its `meta.words` have it: seconds, and its place in the reply's text in code points. */
export interface TimedWord {
  readonly start: number;
  readonly end: number;
  readonly offset: number;
  readonly length: number;
}

/** How captions are cut. */
export interface CueOptions {
  /** Characters in a line; there are two at most. A word that is longer stays whole. Default 42. */
  readonly lineChars?: number;
  /** Seconds of a caption. A word that is longer stays whole. Default 6. */
  readonly longestS?: number;
  /** Whether captions know when each of their words begins. */
  readonly hasWordTimes?: boolean;
}

/**
 * The captions of a spoken text: one a sentence, and a sentence that is too long for two lines or lasts too long cut at
 * its commas, else between words. What only an editor would show is left out. A text of which nothing was heard has none.
 */
export function cuesOf(
  words: readonly TimedWord[],
  text: string,
  { lineChars = 42, longestS = 6, hasWordTimes = false }: CueOptions = {},
): Cue[] {
  const cues: Cue[] = [];
  let sentence: Written[] = [];
  // A place that the text gives a name is no word.
  for (const word of writtenWords(
    words.filter(({ length }) => length > 0),
    text,
  )) {
    sentence.push(word);
    if (!word.endsSentence) continue;
    cut(sentence);
    sentence = [];
  }
  cut(sentence);
  return cues;

  function cut(piece: readonly Written[]): void {
    const [first] = piece;
    if (first === undefined) return;
    const lines = inTwoLines(piece, lineChars);
    const end = piece.at(-1)!.end;
    if (piece.length === 1 || (lines !== null && end - first.start <= longestS)) {
      cues.push(cueOf(lines ?? [piece], first.start, end, hasWordTimes));
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
  /** Whether a space parts it from the word before. */
  readonly isApart: boolean;
  /** Characters that it takes, with that space. */
  readonly chars: number;
  readonly start: number;
  readonly end: number;
  readonly endsSentence: boolean;
  readonly endsClause: boolean;
}

function writtenWords(words: readonly TimedWord[], text: string): Written[] {
  const characters = Array.from(text);
  const isSsml = /^[\s\ufeff]*<(?:speak[\s/>]|\?xml\b|!--)/.test(text);
  const shown = Array.from(withoutMarkup(isSsml ? withoutSilence(text) : text));
  const between = (from: number, to?: number): string => {
    const plain = shown.slice(from, to).join("").replaceAll(LEFT_OUT, "");
    return isSsml ? spaced(plain).replaceAll(REFERENCE, dereferenced) : plain;
  };
  let opening = spaced(between(0, words[0]?.offset ?? 0)).trimStart();
  let isApart = false;
  return words.map(({ start, end, offset, length }, index) => {
    const gap = between(offset + length, words[index + 1]?.offset);
    // Marks that close this word, a space, a dash that closes it too, and marks that open the next word.
    const [, marks = "", space = "", dash = "", behind = ""] =
      /^(\S*)(\s*)([—–-]+(?=\s))?\s*(.*)$/su.exec(gap) ?? [];
    const closing = dash === "" ? marks : `${marks} ${dash}`;
    const word = isSsml
      ? between(offset, offset + length)
      : spaced(characters.slice(offset, offset + length).join(""));
    const pauseS = (words[index + 1]?.start ?? Number.POSITIVE_INFINITY) - end;
    const shownWord = opening + word + closing;
    const written = {
      text: shownWord,
      isApart,
      chars: Array.from(shownWord).length + Number(isApart),
      start,
      end,
      // "at 5 p.m. Then": where a word's own full stop ends the sentence too, the voice breaks off.
      endsSentence:
        /[.!?…]["'”’»)\]}]*$/u.test(marks) ||
        (word.endsWith(".") && pauseS >= SENTENCE_PAUSE_S) ||
        /[\r\n]\s*[\r\n]/u.test(space),
      endsClause: /[,;:—–]/u.test(closing),
    };
    opening = spaced(behind);
    isApart = space !== "";
    return written;
  });
}

/** Emphasis, code, tables; the address of a link; tags; what begins a heading, a quotation or an item of a list. */
const MARKUP =
  /[*_~`|]+|!?\[(?=[^[\]]*\]\()|\]\([^()\s]*\)|<\/?[a-z][^<>]*>|\[pause:[^\][\n]{1,40}\]|^[^\S\n]*(?:#{1,6}|[->+])(?=[^\S\n])/gimu;
const REFERENCE = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function dereferenced(reference: string, decimal?: string, hex?: string, name = ""): string {
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  if (Number.isNaN(code)) return ENTITIES[name] ?? reference;
  return code <= 0x10ffff ? String.fromCodePoint(code) : reference;
}

/** Stands for every character that is left out, so that the others keep their places. */
const LEFT_OUT = "\0";

/** What of SSML nobody speaks; elements that part sentences leave a space. */
const SILENT =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<(desc|metadata)\b[^<>]*>[\s\S]*?<\/\1\s*>|<!\[CDATA\[|\]\]>|<\/?(p|s|sentence|paragraph|break)\b[^<>]*>/g;

function withoutSilence(text: string): string {
  return text.replace(SILENT, (marks: string, _silent: string | undefined, block: string | undefined) => {
    const length = Array.from(marks).length;
    return block === undefined ? LEFT_OUT.repeat(length) : ` ${LEFT_OUT.repeat(length - 1)}`;
  });
}

function withoutMarkup(text: string): string {
  return text.replace(MARKUP, (marks) => LEFT_OUT.repeat(Array.from(marks).length));
}

function spaced(text: string): string {
  return text.replace(/\s+/gu, " ");
}

/** Lines of so many characters, as even as can be: one, or two; `null` where there would be more. */
function inTwoLines(piece: readonly Written[], lineChars: number): (readonly Written[])[] | null {
  const whole = charsOf(piece);
  if (whole <= lineChars) return [piece];
  if (whole > 2 * lineChars + 1) return null;
  let best: (readonly Written[])[] | null = null;
  let minChars = lineChars + 1;
  for (const at of breaksIn(piece)) {
    const lines = [piece.slice(0, at), piece.slice(at)];
    const chars = Math.max(...lines.map(charsOf));
    if (chars < minChars) [best, minChars] = [lines, chars];
  }
  return best;
}

/** Before which word to cut: behind the comma that is nearest the middle, unless only a few words stood by themselves. */
function breakIn(piece: readonly Written[]): number {
  const whole = charsOf(piece);
  let best = { at: 1, off: Number.POSITIVE_INFINITY };
  let clause = best;
  for (const at of breaksIn(piece)) {
    const off = Math.abs(charsOf(piece.slice(0, at)) - whole / 2);
    if (off < best.off) best = { at, off };
    if (piece[at - 1]!.endsClause && off < clause.off) clause = { at, off };
  }
  return clause.off <= FARTHEST_COMMA * whole ? clause.at : best.at;
}

/** Where a piece may be cut: at its spaces, and where it has none, between any two of its words. */
function breaksIn(piece: readonly Written[]): number[] {
  const all = Array.from(piece.keys()).slice(1);
  const apart = all.filter((at) => piece[at]!.isApart);
  return apart.length > 0 ? apart : all;
}

/** The voice pauses longer between sentences, and hardly inside of one. */
const SENTENCE_PAUSE_S = 0.3;

/** From the middle, as a share of the whole. */
const FARTHEST_COMMA = 0.35;

function cueOf(
  lines: readonly (readonly Written[])[],
  start: number,
  end: number,
  hasWordTimes: boolean,
): Cue {
  const words: { at: number; start: number }[] = [];
  let text = "";
  for (const line of lines) {
    if (text !== "") text += "\n";
    for (const [index, word] of line.entries()) {
      if (index > 0 && word.isApart) text += " ";
      words.push({ at: text.length, start: word.start });
      text += word.text;
    }
  }
  return hasWordTimes ? { start, end, text, words } : { start, end, text };
}

function charsOf(line: readonly Written[]): number {
  return line.reduce((sum, { chars }) => sum + chars, -Number(line[0]!.isApart));
}
