/** One caption of at most two lines. Times in seconds. */
export interface Cue {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Offsets (UTF-16 units of `text`) and start times of words, for WebVTT's word timing. */
  readonly words?: readonly { readonly at: number; readonly start: number }[];
  /** In a dialogue: the speaker's name. */
  readonly speaker?: string;
}

/** A word of `meta.words`: seconds, and its place in the reply's text in code points. */
export interface TimedWord {
  readonly start: number;
  readonly end: number;
  readonly offset: number;
  readonly length: number;
  /** In a dialogue: the number of the line, from 0. */
  readonly line?: number;
}

/** A line of a dialogue: its place in the script, in code points. */
export interface SpokenLine {
  readonly speaker: string;
  readonly offset: number;
  readonly length: number;
}

export interface CueOptions {
  /** Characters per line. A longer word stays whole. Default: 42. */
  readonly lineChars?: number;
  /** Maximum seconds per caption. A longer word stays whole. Default: 6. */
  readonly longestS?: number;
  /** Whether cues carry the start time of each word. */
  readonly hasWordTimes?: boolean;
}

/**
 * Cuts a spoken text into captions: one per sentence, and where a sentence exceeds two lines or the maximum time, at
 * its commas, else between words. Markup is left out. A text without spoken words gives none.
 */
export function cuesOf(
  words: readonly TimedWord[],
  text: string,
  { lineChars = 42, longestS = 6, hasWordTimes = false }: CueOptions = {},
): Cue[] {
  const cues: Cue[] = [];
  let sentence: Written[] = [];
  // Named places (marks) have no length and are not words.
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

/** Cuts a spoken dialogue into captions, each of one speaker. @param lines as the event `dialogue.started` has them */
export function dialogueCues(
  words: readonly TimedWord[],
  script: string,
  lines: readonly SpokenLine[],
  options?: CueOptions,
): Cue[] {
  const characters = Array.from(script);
  const byLine: TimedWord[][] = lines.map(() => []);
  for (const word of words) byLine[word.line ?? 0]?.push(word);
  return lines.flatMap(({ speaker, offset, length }, index) => {
    const text = characters.slice(offset, offset + length).join("");
    const own = byLine[index]!.map((word) => ({ ...word, offset: word.offset - offset }));
    return cuesOf(own, text, options).map((cue) => ({ ...cue, speaker }));
  });
}

/** A word with its punctuation. */
interface Written {
  readonly text: string;
  /** Whether a space separates it from the previous word. */
  readonly isApart: boolean;
  /** Its characters, including that space. */
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
    // Closing punctuation, a space, a closing dash, and opening punctuation of the next word.
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
      // In "at 5 p.m. Then", the word's own full stop also ends the sentence: the voice pauses there.
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

/** Emphasis, code and tables; link addresses; tags; heading, quotation and list markers. */
const MARKUP =
  /[*_~`|]+|!?\[(?=[^[\]]*\]\()|\]\([^()\s]*\)|<\/?[a-z][^<>]*>|\[(?:pause|voice(?!: [^\][\n ]* )):[^\][\n]{1,248}\]|^[^\S\n]*(?:#{1,6}|[->+])(?=[^\S\n])/gimu;
const REFERENCE = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function dereferenced(reference: string, decimal?: string, hex?: string, name = ""): string {
  const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
  if (Number.isNaN(code)) return ENTITIES[name] ?? reference;
  return code <= 0x10ffff ? String.fromCodePoint(code) : reference;
}

/** Placeholder for each removed character, so that the others keep their offsets. */
const LEFT_OUT = "\0";

/** Parts of SSML that are not spoken. Elements that separate sentences leave a space. */
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

/** Splits into one or two lines of at most `lineChars`, as even as possible; `null` if they do not fit. */
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

/**
 * Returns the word to cut before: after the comma nearest the middle, unless that leaves only a few words on one
 * side.
 */
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

/** Returns possible cuts: at spaces, or between any two words if there are none. */
function breaksIn(piece: readonly Written[]): number[] {
  const all = Array.from(piece.keys()).slice(1);
  const apart = all.filter((at) => piece[at]!.isApart);
  return apart.length > 0 ? apart : all;
}

/** Pauses between sentences are longer than this; pauses within one are shorter. */
const SENTENCE_PAUSE_S = 0.3;

/** Maximum distance of a comma from the middle, as a fraction of the whole. */
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
