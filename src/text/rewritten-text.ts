import { strip } from "./characters.ts";

/** The half-open range [from, to) of a text, in UTF-16 units. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

export interface Replacement extends TextRange {
  readonly words: string;
}

/** A replaced range of the text before, and where its words are in the text after. */
interface Edit extends TextRange {
  readonly at: number;
  readonly length: number;
}

/**
 * A text that may be rewritten repeatedly and maps each range to where it came from. Each rewriting stores only its
 * replacements. A range that touches a replacement maps to all of what was replaced.
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

  static of(text: string): RewrittenText {
    return new RewrittenText(text, null, []);
  }

  /** Replaces like `String.replace`, except that a string is inserted literally, without `$1` and the like. */
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

  /** Replaces each match by its first group: "[a link](to)" becomes "a link". */
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

  /** @param replacements in order, without overlaps */
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

  /** Replaces characters one for one. @param text of the same length */
  respelled(text: string): RewrittenText {
    return text === this.text ? this : new RewrittenText(text, this, []);
  }

  stripped(): RewrittenText {
    const { text } = this;
    const kept = strip(text);
    const start = text.indexOf(kept);
    const ends = [
      { from: 0, to: start, words: "" },
      { from: start + kept.length, to: text.length, words: "" },
    ];
    return this.edited(ends.filter(({ from, to }) => to > from));
  }

  /** Maps a range, which must not be empty, to the original text. */
  sourceOf({ from, to }: TextRange): TextRange {
    if (this.#before === null) return { from, to };
    const first = this.#lastEditAt(from);
    const last = this.#lastEditAt(to - 1);
    return this.#before.sourceOf({
      from: first === undefined ? from : from < first.at + first.length ? first.from : behind(first, from),
      to: last === undefined ? to : to <= last.at + last.length ? last.to : behind(last, to),
    });
  }

  /** Returns the last edit whose words begin at or before a position. */
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

/** Records only the changed words: in "Chapter IV" → "Chapter four" the first word stays. */
function addEdits(edits: Edit[], before: string, words: string, from: number, at: number): void {
  const head = wordsShared(before, words);
  const tail = wordsSharedAtEnd(before.slice(head), words.slice(head));
  // Words inserted between two kept ones map to both, so that every word has a source.
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

/** Returns the length of the common beginning, up to its last space. */
function wordsShared(a: string, b: string): number {
  let shared = 0;
  for (let i = 0; i < a.length && a.charCodeAt(i) === b.charCodeAt(i); i++)
    if (a.charCodeAt(i) === 0x20) shared = i + 1;
  return shared;
}

/** Returns the length of the common ending, from its first space. */
function wordsSharedAtEnd(a: string, b: string): number {
  let shared = 0;
  for (let i = 1; i <= a.length && i <= b.length; i++) {
    const code = a.charCodeAt(a.length - i);
    if (code !== b.charCodeAt(b.length - i)) break;
    if (code === 0x20) shared = i;
  }
  return shared;
}
