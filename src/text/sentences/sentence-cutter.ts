import { splitSentences } from "./sentences.ts";

/** Longer sentences are emitted in parts, since a full stop may never come. */
export const MAX_SENTENCE_CHARS = 600;
/** Characters of a first sentence beyond which its first clause is spoken while the rest is still written. */
export const MAX_FIRST_CHARS = 60;

/**
 * Splits arriving text into sentences, independent of the chunk borders. A sentence is complete when the next one
 * begins, so the last one comes from {@link SentenceCutter.flush}. Sentences over {@link MAX_SENTENCE_CHARS} are
 * split after a clause or between words.
 */
export class SentenceCutter {
  #pending = "";
  #isLineBegun = false;

  /**
   * Takes a chunk and returns the completed sentences, trimmed and not empty.
   *
   * @param maxFirstChars length beyond which a first sentence is split after its first clause
   */
  push(piece: string, maxFirstChars = Number.POSITIVE_INFINITY): string[] {
    this.#pending += piece.replace(SPACES, " ");
    // Half of a surrogate pair has no case.
    const held = HIGH_SURROGATE.test(this.#pending) ? this.#pending.slice(-1) : "";
    if (held !== "") this.#pending = this.#pending.slice(0, -1);
    const ready = this.#takeReady(maxFirstChars);
    this.#pending += held;
    return ready;
  }

  /** Returns the rest, or `null`. */
  flush(): string | null {
    const rest = this.#pending.replace(/(?<!\p{L}[-\u2010\u00ad])\n/gu, " ").trim();
    this.#pending = "";
    return rest === "" ? null : rest;
  }

  #takeReady(maxFirstChars: number): string[] {
    const ready: string[] = [];
    for (;;) {
      const sentences = withListNumbers(this.#pending, this.#isLineBegun);
      const over = isLastEndOpen(sentences) ? sentences.length - 2 : sentences.length - 1;
      let end = 0;
      let isRunOn = false;
      for (const [index, { text }] of sentences.entries()) {
        const start = this.#pending.indexOf(text, end);
        const isFirst = !this.#isLineBegun && index === 0;
        const clause = isFirst && text.length > maxFirstChars ? firstClauseLength(text) : 0;
        isRunOn = clause > 0 || text.length > MAX_SENTENCE_CHARS;
        if (!isRunOn && index >= over) break;
        const length = isRunOn ? clause || clauseLength(text) : text.length;
        ready.push(text.slice(0, length).trim());
        end = start + length;
        if (isRunOn) break;
      }
      this.#pending = this.#pending.slice(end);
      this.#isLineBegun ||= end > 0;
      if (!isRunOn) return ready;
    }
  }
}

/** Returns the sentences of a complete text, without a length limit. */
export function sentencesOf(text: string): string[] {
  return withListNumbers(text, false).map((sentence) => sentence.text.trim());
}

/** All spaces but the line feed, which ends a sentence. */
const SPACES = /[^\S\n]|[\x1c-\x1f\x85]/g;
const HIGH_SURROGATE = /[\ud800-\udbff]$/;
const INITIAL_AND_STOP = /\p{Lu}\.[”"’')\]]*$/u;
/** After "U.S.", only the whole next word shows whether the sentence is over. */
const WORD_UNDER_WAY = /^[A-Za-z]{0,19}$/;

/** Joins the number of a list item ("2.") to its text. */
function withListNumbers(text: string, isLineBegun: boolean): { text: string; endsParagraph: boolean }[] {
  const sentences: { text: string; endsParagraph: boolean }[] = [];
  let end = 0;
  let number: { start: number; end: number } | null = null;
  for (const sentence of splitSentences(text, "hard")) {
    const start = text.indexOf(sentence.text, end);
    const beginsLine = (end === 0 && !isLineBegun) || text.slice(end, start).includes("\n");
    end = start + sentence.text.length;
    if (number === null && beginsLine && !sentence.endsParagraph && LIST_NUMBER.test(sentence.text)) {
      number = { start, end };
      continue;
    }
    sentences.push(number === null ? sentence : { ...sentence, text: text.slice(number.start, end) });
    number = null;
  }
  if (number !== null) sentences.push({ text: text.slice(number.start, number.end), endsParagraph: false });
  return sentences;
}

const LIST_NUMBER = /^[\s>*_#+-]*\(?(?:\d{1,3}|[a-z])\.[*_]*$/;

function isLastEndOpen(sentences: readonly { text: string; endsParagraph: boolean }[]): boolean {
  const [before, last] = sentences.slice(-2);
  if (before === undefined || last === undefined || before.endsParagraph) return false;
  return INITIAL_AND_STOP.test(before.text) && WORD_UNDER_WAY.test(last.text);
}

const MIN_CLAUSE_CHARS = 20;

/** Returns the length of the first clause that is long enough to be spoken alone; 0 if there is none. */
function firstClauseLength(sentence: string): number {
  const at = sentence.slice(MIN_CLAUSE_CHARS).search(/[,;:—–] /);
  return at < 0 ? 0 : MIN_CLAUSE_CHARS + at + 1;
}

/** Returns the length up to the last clause that fits, else the last word. */
function clauseLength(sentence: string): number {
  const start = sentence.slice(0, MAX_SENTENCE_CHARS);
  const clause = Math.max(...[", ", "; ", ": ", "— ", "– "].map((mark) => start.lastIndexOf(mark))) + 1;
  if (clause > MAX_SENTENCE_CHARS / 3) return clause;
  const word = start.lastIndexOf(" ");
  if (word > 0) return word;
  return HIGH_SURROGATE.test(start) ? MAX_SENTENCE_CHARS - 1 : MAX_SENTENCE_CHARS;
}
