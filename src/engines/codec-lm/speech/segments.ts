import { FRAME_S } from "../../../audio/format.ts";
import { hasSpeakable } from "../../../text/characters.ts";
import { inlinePhonemes, withoutPhonemes } from "../../../text/phonemes/given-phonemes.ts";
import { spokenSentences } from "../../../text/sentences/sentences.ts";
import type { PlainItem } from "../../../text/speak-plain.ts";

/** Some sentences that are spoken in one go. */
export interface Segment {
  readonly text: string;
  /** Where it ends in the text so far, in UTF-16 units. */
  readonly end: number;
  /** Whether a sentence goes on behind it. */
  readonly isContinued: boolean;
  /** The silence before it that the text asks for, in seconds; `null` leaves that to who speaks. */
  readonly breakS: number | null;
}

/** Some 20 s of speech: models are at their best with less, and lose the thread with much more. */
const MAX_LETTERS = 300;

/** Ends a sentence without a space behind it. */
const WIDE_STOP = /(?<=[。！？]["”’」』）)]*)(?!["”’」』）)。！？])/u;
const CLAUSE_MARK = /[,;:，、；：—–]/u;

/**
 * An utterance's text as it is spoken: whole sentences, as many as go together; of one that is too long some clauses or
 * words. A piece of the text is never spoken with the next, which may not be there yet. What has no letter or number
 * goes with what comes before it.
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

  /** All of the text so far. */
  get text(): string {
    return this.#text;
  }

  /** The silence that the text asks for behind what has been taken, in seconds; `null` for none. */
  get breakS(): number | null {
    return this.#breakS;
  }

  /** What is spoken next; `null` at the end. Throws what the source of the text does. */
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

  /** Asks for the next piece of the text, unless some of this one is left. */
  lookAhead(): void {
    if (this.#ready.length > 0 || this.#isOver || this.#pending !== null) return;
    this.#pending = this.#pull();
    this.#pending.catch(() => {});
  }

  /** Lets go of the text. Not waited for: a source that still waits for its next piece holds up nobody. */
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

/** A text in parts that are spoken in one go. */
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

/** A text's sentences, which together are all of it. */
function splitSentencesAt(piece: string): string[] {
  const starts = spokenSentences(piece).map(({ from }) => from);
  const bounds = [0, ...starts.slice(1), piece.length];
  const sentences = bounds.slice(1).map((to, at) => piece.slice(bounds[at], to));
  return sentences.flatMap((sentence) => sentence.split(WIDE_STOP)).filter((sentence) => sentence !== "");
}

/** A sentence; one that is too long in parts, cut behind clauses where that can be, else behind words. */
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

/** Where the part ends that begins at `from`: a third of what it may have, at least. */
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

/** What is never cut: characters as they are seen, and words that are given with phonemes. */
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

/** Nobody speaks slower, or faster, in letters a second. */
const MIN_LETTERS_PER_S = 5;
const MAX_LETTERS_PER_S = 25;
/** Silence around the words of a recording. */
const MAX_SILENCE_S = 1;
/** What a text may take beside its letters: a slow beginning, pauses. */
const BASE_S = 4;

const DIGIT = /\p{N}/u;
const SIGN = /\p{S}/u;
const LOGOGRAM = /\p{Script=Han}/u;
const SYLLABLE = /[\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Ethiopic}]/u;

/**
 * How long a text is to say, in letters of an alphabet: what stands for a word or a syllable counts for several, and so do
 * digits and signs, which are read as words.
 */
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

/** Frames of 80 ms that a text takes at the very most, however slowly it is spoken. */
export function maxFramesFor(text: string): number {
  return Math.ceil((BASE_S + countLetters(text) / MIN_LETTERS_PER_S) / FRAME_S);
}

/** Whether words may be those of a recording: neither too few for it nor too many. */
export function couldCoverAudio(text: string, durationS: number): boolean {
  const letters = countLetters(text.trim());
  return letters / MAX_LETTERS_PER_S <= durationS && durationS <= MAX_SILENCE_S + letters / MIN_LETTERS_PER_S;
}

/** A text as a model reads it: on one line, and of `[word](/phonemes/)` the word alone. */
export function toPlainText(text: string): string {
  return withoutPhonemes(text).replaceAll(/\s+/gu, " ").trim();
}
