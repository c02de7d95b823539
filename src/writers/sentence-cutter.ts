import { splitSentences } from "../text/sentences.ts";

/**
 * Cuts text that arrives in pieces into sentences. A sentence is known to be over when the next one has begun, so the
 * last one comes out with {@link SentenceCutter.flush}.
 */
export class SentenceCutter {
  #pending = "";

  /** Takes the next piece, cut anywhere, and gives the sentences that it completed: trimmed, none empty. */
  push(piece: string): string[] {
    this.#pending += piece;
    const sentences = splitSentences(this.#pending, READINGS);
    const last = sentences.at(-1);
    if (sentences.length < 2 || last === undefined) return [];
    this.#pending = this.#pending.slice(this.#pending.lastIndexOf(last.text));
    return sentences.slice(0, -1).map(({ text }) => text.trim());
  }

  /** What is left at the end, whole or not; `null` when nothing is. */
  flush(): string | null {
    const rest = this.#pending.trim();
    this.#pending = "";
    return rest === "" ? null : rest;
  }
}

/** Closing quotes and brackets stay with their sentence, and "e.g." ends none. */
const READINGS = "improved";
