import { SentenceCutter, sentencesOf } from "../text/sentences/sentence-cutter.ts";

/**
 * Cuts what a language model writes, which may arrive in pieces, cut anywhere, into sentences. What it thinks is left out.
 * The one place where written text becomes sentences: whatever comes after it takes them as they are.
 */
export class WrittenSentences {
  readonly #thoughts = new ThoughtFilter();
  readonly #cutter = new SentenceCutter();

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
   * What is left at the end, whole or not: mostly one sentence.
   *
   * @param ended makes of it what is to be said
   */
  flush(ended = (rest: string): string => rest): string[] {
    const ready = this.#cutter.push(this.#thoughts.flush());
    return sentencesOf(ended([...ready, this.#cutter.flush() ?? ""].join(" ").trim()));
  }
}

/**
 * Takes out what a reasoning model thinks between `<think>` and `</think>` (also `<thinking>` and `<reasoning>`) where
 * its server leaves that in the reply. The text may arrive in pieces, cut anywhere.
 */
export class ThoughtFilter {
  #held = "";
  /** The tag that ends the thought under way; `null` outside. */
  #until: string | null = null;
  #hasThought = false;

  /** Whether anything was taken out. */
  get hasThought(): boolean {
    return this.#hasThought;
  }

  /** Whether a thought is under way. */
  get isThinking(): boolean {
    return this.#until !== null;
  }

  /** Takes the next piece and gives what of it is meant to be said. */
  push(piece: string): string {
    this.#held += piece;
    let said = "";
    for (;;) {
      const tag = TAG.exec(this.#held);
      if (tag === null) break;
      if (this.#until === null) said += this.#held.slice(0, tag.index);
      this.#held = this.#held.slice(tag.index + tag[0].length);
      const name = tag[2]!.toLowerCase();
      if (this.#until === null && tag[1] === "") this.#until = name;
      else if (this.#until === name && tag[1] === "/") this.#until = null;
      this.#hasThought = true;
    }
    const whole = this.#held.length - (TAG_BEGUN.exec(this.#held)?.[0].length ?? 0);
    if (this.#until === null) said += this.#held.slice(0, whole);
    this.#held = this.#held.slice(whole);
    return said;
  }

  /** What was held back because a tag might have begun there. */
  flush(): string {
    const rest = this.#until === null ? this.#held : "";
    this.#held = "";
    return rest;
  }
}

const TAG = /<(\/?)(think|thinking|reasoning)>/i;
/** A longer beginning is no tag's. */
const TAG_BEGUN = /<\/?[a-z]{0,9}$/i;
