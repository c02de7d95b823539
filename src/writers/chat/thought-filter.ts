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
