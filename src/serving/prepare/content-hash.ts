import { createHash, randomBytes } from "node:crypto";
import type { Delivery, Lexicon } from "../../core/script.ts";

/** Gathers what a request says, so that at temperature 0 its seed follows from its content alone. */
export class ContentHash {
  readonly #hash = createHash("sha256");

  constructor(modelId: string) {
    this.text(modelId);
  }

  /** A text, or its absence; lengths go in too, so that no two lists of texts run together. */
  text(text: string | null): this {
    if (text === null) {
      this.#hash.update("-");
      return this;
    }
    this.#hash.update(`${text.length}:`).update(text, "utf16le");
    return this;
  }

  bytes(bytes: Uint8Array): this {
    this.#hash.update(`${bytes.length};`).update(bytes);
    return this;
  }

  /** How words are said; nothing where there are none, and the same in whichever order they come. */
  lexicon(words: Lexicon): this {
    if (words.length === 0) return this;
    this.#hash.update(`w${words.length};`);
    for (const [word, said] of [...words].sort(([a], [b]) => (a < b ? -1 : 1))) this.text(word).text(said);
    return this;
  }

  /**
   * 64 bits: from the content when `temperature` is 0, fresh otherwise. The cap and the quality stay out of it, so
   * that a longer cap only adds to the same audio.
   */
  seed(delivery: Delivery): bigint {
    const digest = delivery.temperature === 0 ? this.#hash.digest() : randomBytes(8);
    return digest.readBigUInt64LE(0);
  }
}
