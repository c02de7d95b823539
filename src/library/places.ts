/** Finds words of the parts of a text, in order, in the whole of it. */
export class Places {
  readonly text: string;
  /** The same with blanks for tags, in which no word is looked for. */
  readonly #searched: string;
  /** UTF-16 units and characters that are behind. */
  #units = 0;
  #chars = 0;

  constructor(text: string, { isSsml }: { readonly isSsml: boolean }) {
    this.text = text;
    this.#searched = isSsml ? text.replace(/<[^>]*>/g, (tag) => " ".repeat(tag.length)) : text;
  }

  /** In code points, as `words` of replies have it. */
  next({ word, length }: { readonly word: string; readonly length: number }): {
    readonly offset: number;
    readonly length: number;
  } {
    const at = this.#searched.indexOf(word, this.#units);
    if (at < 0) return { offset: this.#chars, length };
    this.#goTo(at);
    const offset = this.#chars;
    this.#goTo(at + word.length);
    return { offset, length };
  }

  #goTo(units: number): void {
    for (; this.#units < units; this.#units++) if (!isSecondHalf(this.text, this.#units)) this.#chars += 1;
  }
}

function isSecondHalf(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
