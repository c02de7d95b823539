import { MAX_FIRST_CHARS, SentenceCutter, sentencesOf } from "../text/sentences/sentence-cutter.ts";

/**
 * Splits a language model's text, in arbitrary chunks, into sentences, without its thoughts. Later stages do not
 * split again.
 */
export class WrittenSentences {
  readonly #thoughts: ThoughtFilter;
  readonly #cutter = new SentenceCutter();

  /** @param openThought name of the tag that ends the prompt */
  constructor(openThought: string | null = null) {
    this.#thoughts = new ThoughtFilter(openThought);
  }

  get hasThought(): boolean {
    return this.#thoughts.hasThought;
  }

  get isThinking(): boolean {
    return this.#thoughts.isThinking;
  }

  /** Adds a chunk; returns the completed sentences, trimmed and not empty. */
  push(piece: string): string[] {
    return this.#cutter.push(this.#thoughts.push(piece), MAX_FIRST_CHARS);
  }

  /**
   * Returns the rest, mostly one sentence.
   *
   * @param isOver whether the model ended the reply: an unclosed thought is then text
   * @param ended edits the rest
   */
  flush(isOver = false, ended = (rest: string): string => rest): string[] {
    const ready = this.#cutter.push(this.#thoughts.flush(isOver), MAX_FIRST_CHARS);
    return sentencesOf(ended([...ready, this.#cutter.flush() ?? ""].join(" ").trim()));
  }
}

/**
 * Returns what to speak of the end of a truncated reply: only whole words, nothing after a whole sentence, and no
 * number at the end, which may be incomplete.
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
 * Removes thoughts between `<think>` and `</think>` (also `<thinking>`, `<reasoning>`) whose first tag begins a line.
 * Text may arrive in arbitrary chunks.
 */
export class ThoughtFilter {
  #pending = "";
  /** Tag name of the open thought; `null` outside. */
  #until: string | null;
  /** The open thought with its tag. */
  #thought = "";
  #isLineBlank = true;
  #hasThought: boolean;

  constructor(openThought: string | null = null) {
    this.#until = openThought;
    this.#hasThought = openThought !== null;
  }

  get hasThought(): boolean {
    return this.#hasThought;
  }

  get isThinking(): boolean {
    return this.#until !== null;
  }

  /** Adds a chunk; returns its text without thoughts. */
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
   * Returns text held back because a tag might begin there.
   *
   * @param isOver whether to return an unclosed thought too
   */
  flush(isOver = false): string {
    this.push("");
    const words = this.#take(this.#pending.length);
    if (this.#until === null || !isOver) return words;
    this.#until = null;
    return this.#thought;
  }

  /** Takes pending characters; returns them unless they belong to a thought. */
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
/** Longer text is no tag. */
const TAG_BEGUN = /<\/?[a-z]{0,9}$/i;
