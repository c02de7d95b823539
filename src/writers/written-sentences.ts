import { SentenceCutter, sentencesOf } from "../text/sentences/sentence-cutter.ts";

/**
 * Cuts what a language model writes, which may arrive in pieces, cut anywhere, into sentences. What it thinks is left out.
 * The one place where written text becomes sentences: whatever comes after it takes them as they are.
 */
export class WrittenSentences {
  readonly #thoughts: ThoughtFilter;
  readonly #cutter = new SentenceCutter();

  /** @param openThought name of the tag that the prompt ended with */
  constructor(openThought: string | null = null) {
    this.#thoughts = new ThoughtFilter(openThought);
  }

  /** Whether there was a thought. */
  get hasThought(): boolean {
    return this.#thoughts.hasThought;
  }

  /** Whether a thought is under way. */
  get isThinking(): boolean {
    return this.#thoughts.isThinking;
  }

  /** Takes the next piece and gives the sentences that it completed: trimmed, none empty. */
  push(piece: string): string[] {
    return this.#cutter.push(this.#thoughts.push(piece));
  }

  /**
   * Returns what is left at the end: mostly one sentence.
   *
   * @param isOver whether the model ended the reply: a thought that it never closed was none
   * @param ended returns what of it is spoken
   */
  flush(isOver = false, ended = (rest: string): string => rest): string[] {
    const ready = this.#cutter.push(this.#thoughts.flush(isOver));
    return sentencesOf(ended([...ready, this.#cutter.flush() ?? ""].join(" ").trim()));
  }
}

/**
 * Returns what is spoken of the last words of a reply that a limit cut off: nothing after a whole sentence, and otherwise
 * whole words. It never ends in a number, of which more may have followed.
 *
 * @param isFirst whether nothing was spoken before
 */
export function endCutReply(rest: string, isFirst: boolean): string {
  if (WHOLE.test(rest)) return rest;
  if (!isFirst) return "";
  const words = rest
    .replace(/\s*\S*$/, "")
    .replace(/(?:\s*\S*\d\S*)+$/, "")
    .replace(/[\s,;:(—–-]+$/, "");
  if (words !== "") return `${words}.`;
  return /\d/.test(rest) ? "" : `${rest}.`;
}

const WHOLE = /[^\d.,][.!?…]+["”’')\]*_~`]*$|^$/;

/**
 * Removes what a reasoning model thinks between `<think>` and `</think>` (also `<thinking>` and `<reasoning>`), where the
 * first tag begins a line. The text may arrive in pieces, cut anywhere.
 */
export class ThoughtFilter {
  #pending = "";
  /** The tag that ends the thought under way; `null` outside. */
  #until: string | null;
  /** The thought under way, with its tag. */
  #thought = "";
  #isLineBlank = true;
  #hasThought: boolean;

  constructor(openThought: string | null = null) {
    this.#until = openThought;
    this.#hasThought = openThought !== null;
  }

  /** Whether anything was removed. */
  get hasThought(): boolean {
    return this.#hasThought;
  }

  /** Whether a thought is under way. */
  get isThinking(): boolean {
    return this.#until !== null;
  }

  /** Takes the next piece and returns what of it is not a thought. */
  push(piece: string): string {
    this.#pending += piece;
    let words = "";
    for (let tag = TAG.exec(this.#pending); tag !== null; tag = TAG.exec(this.#pending)) {
      const [text, slash, name = ""] = tag;
      words += this.#take(tag.index);
      const isEnd = slash === "/";
      const isMark =
        this.#until === null ? isEnd || this.#isLineBlank : isEnd && this.#until === name.toLowerCase();
      if (!isMark) {
        words += this.#take(text.length);
        continue;
      }
      this.#pending = this.#pending.slice(text.length);
      this.#hasThought = true;
      this.#thought = text;
      this.#until = isEnd ? null : name.toLowerCase();
    }
    return words + this.#take(this.#pending.length - (TAG_BEGUN.exec(this.#pending)?.[0].length ?? 0));
  }

  /**
   * Returns what was held back because a tag might have begun there.
   *
   * @param isOver whether a thought that was not closed is returned too
   */
  flush(isOver = false): string {
    this.push("");
    const words = this.#take(this.#pending.length);
    if (this.#until === null || !isOver) return words;
    this.#until = null;
    return this.#thought;
  }

  /** Takes characters from the pending ones, and returns them unless they are a thought's. */
  #take(length: number): string {
    const text = this.#pending.slice(0, length);
    this.#pending = this.#pending.slice(length);
    if (this.#until !== null) {
      this.#thought += text;
      return "";
    }
    if (text !== "")
      this.#isLineBlank = /(?:^|\n)[^\S\n]*$/.test(text) && (this.#isLineBlank || text.includes("\n"));
    return text;
  }
}

const TAG = /<(\/?)(think|thinking|reasoning)>/i;
/** A longer beginning is no tag's. */
const TAG_BEGUN = /<\/?[a-z]{0,9}$/i;
