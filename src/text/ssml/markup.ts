import type { TextPiece } from "../../core/marked-text.ts";
import type { Accent } from "../phonemes/accent.ts";

export interface ParsedMarkup {
  readonly piece: TextPiece;
  /** Code points of the spoken text, without markup. */
  readonly spokenChars: number;
  /** Requests of the markup that no voice follows. Short ASCII phrases, bounded in number. */
  readonly cautions: readonly string[];
}

/**
 * Returns the first available of several voice names. Throws an error with a message for the client if none is.
 *
 * @param place of the name, from {@link placeIn}
 */
export type FindVoice = (names: readonly string[], place: string) => string;

/** Languages of a text's voices, by their names; `null` is the voice around the text. */
export interface VoiceLanguages {
  /** Returns how phonemes are written for a voice; `undefined` for American English. */
  accentOf(voice: string | null): Accent | undefined;
  /** Returns `voice` if it speaks a language (BCP 47), else another that does; `undefined` if none does. */
  voiceFor(language: string, voice: string | null): string | null | undefined;
}

export const ENGLISH_VOICES: VoiceLanguages = {
  accentOf: () => undefined,
  voiceFor: (language, voice) => (/^en(?:-|$)/i.test(language) ? voice : undefined),
};

/** An error in the markup. The message gives place and remedy, without a final full stop. */
export class MarkupError extends Error {
  override readonly name = "MarkupError";

  /** @param at UTF-16 units */
  constructor(text: string, at: number, problem: string) {
    super(`${placeIn(text, at)}: ${problem}`);
  }
}

/** Formats a position as editors do: line and column from 1, in code points. */
export function placeIn(text: string, at: number): string {
  const before = text.slice(0, at);
  const lineFrom = Math.max(before.lastIndexOf("\n"), before.lastIndexOf("\r")) + 1;
  const line = before.split(/\r\n|\n|\r/).length;
  return `line ${line}, column ${Array.from(before.slice(lineFrom)).length + 1}`;
}

/** `[pause:0.8s]` in a text. Positions in UTF-16 units. */
export interface PauseMark {
  readonly from: number;
  readonly to: number;
  readonly pauseS: number;
}

/** Longest silence of one mark, in seconds. */
export const MAX_PAUSE_S = 10;

const UNREADABLE_PAUSE = "[pause:…] has no length that can be read: write [pause:0.8s] or [pause:800ms]";
const LONG_PAUSE = `[pause:…] may be at most ${MAX_PAUSE_S} s: make it shorter, or write several`;

const BEGINNING = "[pause:";
/** Only a number makes it a mark: "[pause: for effect]" is text. */
const MEANT = /^\[pause:\s*[-+.\d][^\]\n]{0,40}\]?/;
const WELL_FORMED = /^\[pause:\s*(\S+?)\s*(ms|s)\s*\]/;

/**
 * Finds pause marks in a range, in linear time.
 *
 * @throws MarkupError for a length that cannot be parsed or is too long
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
    if (pauseS === null) throw new MarkupError(text, from, UNREADABLE_PAUSE);
    if (pauseS > MAX_PAUSE_S) throw new MarkupError(text, from, LONG_PAUSE);
    marks.push({ from, to: from + mark.length, pauseS });
  }
  return marks;
}

/** Parses a CSS or SSML time (`800ms`, `0.8s`, `.5s`) as seconds, else `null`. */
export function secondsOf(written: string): number | null {
  const [, amount, unit] = /^\+?(\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})(ms|s)$/.exec(written) ?? [];
  if (amount === undefined) return null;
  return unit === "ms" ? Number(amount) / 1_000 : Number(amount);
}

const MAX_MARK_CHARS = 64;

/** `[voice:NAME]` in a text: the voice from there on. */
export interface VoiceMark extends Omit<PauseMark, "pauseS"> {
  readonly name: string;
}

/** After a space, only one word makes it a mark: "[voice: of the people]" is text. */
export const VOICE_MARK = /\[voice:([^\s\][][^\][\n]{0,239}|[^\S\n]{1,9}[^\s\][]{1,239}[^\S\n]{0,9})\]/g;
const UNCLOSED_VOICE_MARK = /\[voice:(?![\s\]])(?![^\][\n]{1,240}\])/;
const MAX_VOICE_MARKS = 10_000;

/**
 * Finds voice marks in linear time.
 *
 * @throws MarkupError for a mark without an end, and for too many
 */
export function voiceMarks(text: string): VoiceMark[] {
  const unclosed = UNCLOSED_VOICE_MARK.exec(text);
  if (unclosed !== null)
    throw new MarkupError(text, unclosed.index, "[voice:…] is never closed: write it as in [voice:nova]");
  const marks = Array.from(text.matchAll(VOICE_MARK), ({ 0: mark, 1: name = "", index: from }) => {
    return { from, to: from + mark.length, name: name.trim() };
  });
  const over = marks[MAX_VOICE_MARKS];
  if (over === undefined) return marks;
  const problem = `a text may have at most ${MAX_VOICE_MARKS} [voice:…]: send it in parts`;
  throw new MarkupError(text, over.from, problem);
}

/** Returns the name that {@link FindVoice} gives. @throws MarkupError if it finds no voice */
export function foundVoice(names: readonly string[], text: string, at: number, findVoice: FindVoice): string {
  try {
    return findVoice(names, placeIn(text, at));
  } catch (error) {
    throw error instanceof Error ? new MarkupError(text, at, error.message) : error;
  }
}
