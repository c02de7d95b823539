import { splitSentences } from "./sentences.ts";

/** A longer sentence is let go in parts, so that speech need not wait for a full stop that may never come. */
export const MAX_SENTENCE_CHARS = 600;

/**
 * Cuts text that arrives in pieces into sentences; the same ones, wherever the pieces were cut. A sentence is known to
 * be over when the next one has begun, so the last one comes out with {@link SentenceCutter.flush}. What runs on for
 * more than {@link MAX_SENTENCE_CHARS} characters is cut after a clause, else between words.
 */
export class SentenceCutter {
  #pending = "";
  /** Whether something of the line was let go already, on which what is pending begins. */
  #isLineBegun = false;

  /** Takes the next piece, cut anywhere, and gives the sentences that it completed: trimmed, none empty. */
  push(piece: string): string[] {
    this.#pending += piece.replace(SPACES, " ");
    // Half of a character cannot be told a small letter from a capital.
    const held = HIGH_SURROGATE.test(this.#pending) ? this.#pending.slice(-1) : "";
    if (held !== "") this.#pending = this.#pending.slice(0, -1);
    const ready = this.#takeReady();
    this.#pending += held;
    return ready;
  }

  /** What is left at the end, whole or not; `null` when nothing is. */
  flush(): string | null {
    const rest = this.#pending.replaceAll("\n", " ").trim();
    this.#pending = "";
    return rest === "" ? null : rest;
  }

  #takeReady(): string[] {
    const ready: string[] = [];
    for (;;) {
      const sentences = withListNumbers(this.#pending, this.#isLineBegun);
      const over = isLastEndOpen(sentences) ? sentences.length - 2 : sentences.length - 1;
      let end = 0;
      let isRunOn = false;
      for (const [index, { text }] of sentences.entries()) {
        const start = this.#pending.indexOf(text, end);
        isRunOn = text.length > MAX_SENTENCE_CHARS;
        if (!isRunOn && index >= over) break;
        const length = isRunOn ? clauseLength(text) : text.length;
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

/** The sentences of a text that is whole, as {@link SentenceCutter} gives them but for their length. */
export function sentencesOf(text: string): string[] {
  return withListNumbers(text, false).map((sentence) => sentence.text.trim());
}

/** Every space but the new line, which ends a sentence. */
const SPACES = /[^\S\n]|[\x1c-\x1f\x85]/g;
const HIGH_SURROGATE = /[\ud800-\udbff]$/;
const INITIAL_AND_STOP = /\p{Lu}\.[”"’')\]]*$/u;
/** After "U.S.", only the whole next word tells whether the sentence is over. */
const WORD_UNDER_WAY = /^[A-Za-z]{0,19}$/;

/** The number of a list's item ("2.") stays with the item: at the beginning of a line it is no sentence. */
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

/** How much of a sentence that runs on is let go: up to the last clause that fits, else the last word. */
function clauseLength(sentence: string): number {
  const start = sentence.slice(0, MAX_SENTENCE_CHARS);
  const clause = Math.max(...[", ", "; ", ": ", "— ", "– "].map((mark) => start.lastIndexOf(mark))) + 1;
  if (clause > MAX_SENTENCE_CHARS / 3) return clause;
  const word = start.lastIndexOf(" ");
  if (word > 0) return word;
  return HIGH_SURROGATE.test(start) ? MAX_SENTENCE_CHARS - 1 : MAX_SENTENCE_CHARS;
}
