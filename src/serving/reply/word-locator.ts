import { VOICE_MARK } from "../../text/ssml/markup.ts";
import type { SsmlPassage } from "../../text/ssml/split-ssml.ts";

/** A part of a passage, with its start in the passage and in the whole text, in UTF-16 units. */
type PassagePart = SsmlPassage["parts"][number];

/** Finds the words of a text's passages, in order, in the whole text. */
export class WordLocator {
  readonly text: string;
  /** The text with marks replaced by blanks. */
  readonly #searched: string;
  /** UTF-16 units and code points already passed. */
  #units = 0;
  #chars = 0;

  constructor(text: string) {
    this.text = text;
    const blank = (mark: string) => " ".repeat(mark.length);
    this.#searched = text.replace(VOICE_MARK, blank).replace(MARKS, blank);
  }

  /**
   * Returns a word's position in the whole text, in code points.
   *
   * @param parts origin of the passage's parts; `null` if its words appear in the text in order
   */
  next(
    { word, offset, length }: { readonly word: string; readonly offset: number; readonly length: number },
    passage: string,
    parts: readonly PassagePart[] | null,
  ): { readonly offset: number; readonly length: number } {
    const at = parts === null ? this.#find(word) : sourceOf(unitOf(passage, offset), parts);
    if (at < this.#units) return { offset: this.#chars, length };
    this.#goTo(at);
    const from = this.#chars;
    if (parts === null) this.#goTo(at + word.length);
    return { offset: from, length };
  }

  /** Finds a word shortly after the last one, in UTF-16 units; else -1. Its line breaks may differ. */
  #find(word: string): number {
    const near = this.#searched.slice(this.#units, this.#units + FARTHEST + word.length);
    const parts = word.split(/\s+/).map((part) => part.replaceAll(/[^\p{L}\p{N}]/gu, "\\$&"));
    const found = parts.length === 1 ? near.indexOf(word) : near.search(new RegExp(parts.join("\\s+")));
    return found < 0 ? -1 : this.#units + found;
  }

  #goTo(units: number): void {
    for (; this.#units < units; this.#units++) if (!isSecondHalf(this.text, this.#units)) this.#chars += 1;
  }
}

/** Maximum UTF-16 units between two words. */
const FARTHEST = 2_000;
const MARKS = /\[pause:[^\]\n]{1,40}\]|\]\(\/[^()\n]{1,1000}\/\)/g;

/** Converts code points to UTF-16 units. */
function unitOf(text: string, offset: number): number {
  let unit = 0;
  for (let chars = 0; chars < offset; chars++) unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1;
  return unit;
}

function sourceOf(unit: number, parts: readonly PassagePart[]): number {
  const part = parts.findLast(({ at }) => at <= unit);
  return part === undefined ? -1 : part.from + unit - part.at;
}

function isSecondHalf(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
