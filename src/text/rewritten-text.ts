import { isSpaceCode } from "./characters.ts";

/** A part of a text: [from, to), in UTF-16 units. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** A part of a text and what is written in its place. */
export interface Replacement extends TextRange {
  readonly words: string;
}

/** A replaced part of the text before, and where its words stand in the text after. */
interface Edit extends TextRange {
  readonly at: number;
  readonly length: number;
}

/**
 * A text that has been rewritten, perhaps many times, and still tells which part of the given text each of its parts
 * comes from. Every rewriting keeps what it replaced by what; what it left alone costs nothing. A part that touches what
 * was replaced comes from all of that.
 */
export class RewrittenText {
  readonly text: string;
  readonly #before: RewrittenText | null;
  readonly #edits: readonly Edit[];

  private constructor(text: string, before: RewrittenText | null, edits: readonly Edit[]) {
    this.text = text;
    this.#before = before;
    this.#edits = edits;
  }

  /** A text as it was given. */
  static of(text: string): RewrittenText {
    return new RewrittenText(text, null, []);
  }

  /** As `String.replace` does; in `write` a string is taken as it is, without `$1` and the like. */
  replace(pattern: RegExp, write: string | ((match: string, ...rest: never[]) => string)): RewrittenText {
    const replacements: Replacement[] = [];
    this.text.replace(pattern, (match: string, ...rest: unknown[]) => {
      const words = typeof write === "string" ? write : write(match, ...(rest as never[]));
      const from = rest.at(-2) as number;
      if (words !== match) replacements.push({ from, to: from + match.length, words });
      return "";
    });
    return this.edited(replacements);
  }

  /** The text with what a pattern finds given up, all but its first group: "[a link](to)" becomes "a link". */
  unwrapped(pattern: RegExp): RewrittenText {
    const wrappings: Replacement[] = [];
    for (const { 0: match, 1: inside = "", index } of this.text.matchAll(pattern)) {
      const from = index + match.indexOf(inside);
      const to = from + inside.length;
      const end = index + match.length;
      if (from > index) wrappings.push({ from: index, to: from, words: "" });
      if (end > to) wrappings.push({ from: to, to: end, words: "" });
    }
    return this.edited(wrappings);
  }

  /** The text with parts of it replaced, given in their order. */
  edited(replacements: readonly Replacement[]): RewrittenText {
    if (replacements.length === 0) return this;
    const edits: Edit[] = [];
    let text = "";
    let copied = 0;
    for (const { from, to, words } of replacements) {
      text += this.text.slice(copied, from);
      addEdits(edits, this.text.slice(from, to), words, from, text.length);
      text += words;
      copied = to;
    }
    return new RewrittenText(text + this.text.slice(copied), this, edits);
  }

  /** The same text with other characters in the places of some. @param text of the same length */
  respelled(text: string): RewrittenText {
    return text === this.text ? this : new RewrittenText(text, this, []);
  }

  /** The text without the spaces at its ends. */
  stripped(): RewrittenText {
    const { text } = this;
    let start = 0;
    let end = text.length;
    while (start < end && isSpaceCode(text.charCodeAt(start))) start++;
    while (end > start && isSpaceCode(text.charCodeAt(end - 1))) end--;
    const ends = [
      { from: 0, to: start, words: "" },
      { from: end, to: text.length, words: "" },
    ];
    return this.edited(ends.filter(({ from, to }) => to > from));
  }

  /** The part of the given text that a part of this one, which is not empty, comes from. */
  sourceOf({ from, to }: TextRange): TextRange {
    if (this.#before === null) return { from, to };
    const first = this.#lastEditAt(from);
    const last = this.#lastEditAt(to - 1);
    return this.#before.sourceOf({
      from: first === undefined ? from : from < first.at + first.length ? first.from : behind(first, from),
      to: last === undefined ? to : to <= last.at + last.length ? last.to : behind(last, to),
    });
  }

  /** The last edit whose words begin at a place or before it. */
  #lastEditAt(place: number): Edit | undefined {
    let low = 0;
    let high = this.#edits.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#edits[middle]!.at <= place) low = middle + 1;
      else high = middle;
    }
    return this.#edits[low - 1];
  }
}

function behind({ to, at, length }: Edit, place: number): number {
  return to + place - at - length;
}

/** Notes what a replacement changed and no more: of "Chapter IV" said as "Chapter four" the first word has stayed. */
function addEdits(edits: Edit[], before: string, words: string, from: number, at: number): void {
  const head = wordsShared(before, words);
  const tail = wordsSharedAtEnd(before.slice(head), words.slice(head));
  // Words that were put in between two that have stayed come from both: nothing comes from nowhere.
  if (head + tail === before.length) {
    edits.push({ from, to: from + before.length, at, length: words.length });
    return;
  }
  edits.push({
    from: from + head,
    to: from + before.length - tail,
    at: at + head,
    length: words.length - head - tail,
  });
}

/** How long the beginning is that two texts have in common, up to its last space. */
function wordsShared(a: string, b: string): number {
  let shared = 0;
  for (let i = 0; i < a.length && a.charCodeAt(i) === b.charCodeAt(i); i++)
    if (a.charCodeAt(i) === 0x20) shared = i + 1;
  return shared;
}

/** The same of their ends, from the first space on. */
function wordsSharedAtEnd(a: string, b: string): number {
  let shared = 0;
  for (let i = 1; i <= a.length && i <= b.length; i++) {
    const code = a.charCodeAt(a.length - i);
    if (code !== b.charCodeAt(b.length - i)) break;
    if (code === 0x20) shared = i;
  }
  return shared;
}
