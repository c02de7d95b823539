import { FRAME_S } from "../../../audio/format.ts";
import { hasSpeakable } from "../../../text/characters.ts";
import { inlinePhonemes, withoutPhonemes } from "../../../text/phonemes/given-phonemes.ts";
import { spokenSentences } from "../../../text/sentences/sentences.ts";
import type { PlainItem } from "../../../text/speak-plain.ts";

export interface Segment {
  readonly text: string;
  /** End in the text so far, in UTF-16 units. */
  readonly end: number;
  readonly isContinued: boolean;
  /** Pause before it that the text asks for, in seconds; `null`: the speaker's usual one. */
  readonly breakS: number | null;
}

/** About 20 s of speech: models do best with less, and lose track with much more. */
const MAX_LETTERS = 300;

/** Full-width sentence ends, which no space follows. */
const WIDE_STOP = /(?<=[。！？]["”’」』）)]*)(?!["”’」』）)。！？])/u;
const CLAUSE_MARK = /[,;:，、；：—–]/u;

/**
 * Splits an utterance's text into segments: whole sentences, as many as fit; a sentence that is too long is split at
 * clauses or words. A segment never spans two passages, since the second may not have arrived. Text without letters
 * or numbers joins the text before it.
 */
export class Segments {
  readonly #passages: AsyncIterator<PlainItem>;
  #ready: Segment[] = [];
  #text = "";
  #pending: Promise<void> | null = null;
  #isOver = false;
  #breakS: number | null = null;

  constructor(text: AsyncIterable<PlainItem>) {
    this.#passages = text[Symbol.asyncIterator]();
  }

  get text(): string {
    return this.#text;
  }

  /** Pause after the segments taken so far, in seconds; `null` for none. */
  get breakS(): number | null {
    return this.#breakS;
  }

  /** Returns the next segment; `null` at the end. Throws errors of the text source. */
  async next(): Promise<Segment | null> {
    for (;;) {
      const ready = this.#ready.shift();
      if (ready !== undefined) return ready;
      if (this.#pending === null && this.#isOver) return null;
      const coming = this.#pending ?? this.#pull();
      this.#pending = null;
      await coming;
    }
  }

  /** Requests the next passage unless segments of this one are left. */
  lookAhead(): void {
    if (this.#ready.length > 0 || this.#isOver || this.#pending !== null) return;
    this.#pending = this.#pull();
    this.#pending.catch(() => {});
  }

  /** Releases the text source without waiting: it may still be waiting for its next passage. */
  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    void Promise.resolve(this.#passages.return?.()).catch(() => {});
  }

  async #pull(): Promise<void> {
    const step = await this.#passages.next().catch((error: unknown) => {
      this.#isOver = true;
      throw error;
    });
    if (step.done === true) {
      this.#isOver = true;
      return;
    }
    if (typeof step.value !== "string") {
      this.#breakS = (this.#breakS ?? 0) + step.value.pauseS;
      return;
    }
    for (const part of splitSegments(step.value)) {
      this.#text += part.text;
      const end = this.#text.length;
      if (!hasSpeakable(part.text)) continue;
      this.#ready.push({ ...part, text: toPlainText(part.text), end, breakS: this.#breakS });
      this.#breakS = null;
    }
  }
}

interface TextPart {
  readonly text: string;
  readonly isContinued: boolean;
}

function splitSegments(piece: string): TextPart[] {
  const grouped: TextPart[] = [];
  let letters = 0;
  for (const sentence of splitSentencesAt(piece).flatMap(splitClauses)) {
    const more = countLetters(sentence.text);
    const last = grouped.at(-1);
    if (last !== undefined && letters + more <= MAX_LETTERS) {
      grouped[grouped.length - 1] = { ...sentence, text: last.text + sentence.text };
      letters += more;
    } else {
      grouped.push(sentence);
      letters = more;
    }
  }
  return grouped;
}

function splitSentencesAt(piece: string): string[] {
  const starts = spokenSentences(piece).map(({ from }) => from);
  const bounds = [0, ...starts.slice(1), piece.length];
  const sentences = bounds.slice(1).map((to, at) => piece.slice(bounds[at], to));
  return sentences.flatMap((sentence) => sentence.split(WIDE_STOP)).filter((sentence) => sentence !== "");
}

/** Splits a sentence that is too long, preferably after clauses, else after words. */
function splitClauses(sentence: string): TextPart[] {
  if (countLetters(sentence) <= MAX_LETTERS) return [{ text: sentence, isContinued: false }];
  const units = splitUnits(sentence);
  const found: TextPart[] = [];
  for (let from = 0; from < units.length; ) {
    const until = findCut(units, from);
    found.push({ text: units.slice(from, until).join(""), isContinued: until < units.length });
    from = until;
  }
  return found;
}

/** Returns the end of the part that begins at `from`, after at least a third of the maximum. */
function findCut(units: readonly string[], from: number): number {
  let letters = 0;
  let clause = 0;
  let word = 0;
  for (let at = from; at < units.length; at++) {
    const unit = units[at]!;
    letters += countLetters(unit);
    if (letters > MAX_LETTERS && at > from) return clause || word || at;
    if (letters < MAX_LETTERS / 3) continue;
    const isSpaced = /^\s/u.test(units[at + 1] ?? "");
    if (CLAUSE_MARK.test(unit) && (isSpaced || !/[,:]/.test(unit))) clause = at + 1;
    if (/^\s/u.test(unit)) word = at + 1;
  }
  return units.length;
}

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Splits into units that must not be cut: graphemes, and words with phonemes. */
function splitUnits(sentence: string): string[] {
  const units: string[] = [];
  const add = (text: string): void => {
    for (const { segment } of GRAPHEMES.segment(text)) units.push(segment);
  };
  let at = 0;
  for (const { from, to } of inlinePhonemes(sentence)) {
    add(sentence.slice(at, from));
    units.push(sentence.slice(from, to));
    at = to;
  }
  add(sentence.slice(at));
  return units;
}

/** Bounds of the speaking rate. */
const MIN_LETTERS_PER_S = 5;
const MAX_LETTERS_PER_S = 25;
/** Silence around the words of a recording. */
const MAX_SILENCE_S = 1;
/** Time in addition to the letters: a slow start, pauses. */
const BASE_S = 4;

const DIGIT = /\p{N}/u;
const SIGN = /\p{S}/u;
const LOGOGRAM = /\p{Script=Han}/u;
const SYLLABLE = /[\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Ethiopic}]/u;

/** Counts the letters that a text takes to say: logograms, syllables, digits and signs count for several. */
export function countLetters(text: string): number {
  let letters = 0;
  for (const character of text.normalize("NFC")) letters += letterWeight(character);
  return letters;
}

function letterWeight(character: string): number {
  if (DIGIT.test(character)) return 5;
  if (SIGN.test(character)) return 4;
  if (LOGOGRAM.test(character)) return 3;
  return SYLLABLE.test(character) ? 2 : 1;
}

/** Returns the frames of 80 ms that a text takes at most. */
export function maxFramesFor(text: string): number {
  return Math.ceil((BASE_S + countLetters(text) / MIN_LETTERS_PER_S) / FRAME_S);
}

/** Returns whether a text can be all the words of a recording of that length. */
export function couldCoverAudio(text: string, durationS: number): boolean {
  const letters = countLetters(text.trim());
  return letters / MAX_LETTERS_PER_S <= durationS && durationS <= MAX_SILENCE_S + letters / MIN_LETTERS_PER_S;
}

/** Returns the text as models read it: on one line, with the word alone for `[word](/phonemes/)`. */
export function toPlainText(text: string): string {
  return withoutPhonemes(text).replaceAll(/\s+/gu, " ").trim();
}
