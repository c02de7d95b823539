import { characterCount } from "../characters.ts";
import type { Replacement, RewrittenText } from "../rewritten-text.ts";
import { type Accent, AMERICAN } from "./accent.ts";
import { type InlinePhonemes, inlinePhonemes, readGivenPhonemes } from "./given-phonemes.ts";
import {
  createUserLexicon,
  type FoundWord,
  type IsPlural,
  type LexiconEntry,
  type UserLexicon,
} from "./user-lexicon.ts";

/** A sentence in which a private-use character stands for each word with given phonemes. */
export interface Marked {
  readonly text: RewrittenText;
  readonly given: readonly GivenWord[];
}

export interface GivenWord {
  readonly word: string;
  readonly phonemes: string;
  /** Phonemes that could not be parsed: the word is read as spelled. */
  readonly isUnreadable: boolean;
}

const FIRST_MARK = 0xe000;
const MARKS = 0xf8ff - FIRST_MARK + 1;
const PRIVATE = /[\ue000-\uf8ff]/g;
/** Characters that Unicode composition may change, with the one before. */
const COMPOSED = /[\x00-\x7f]?[^\x00-\x7f]+/g;
const NONE: readonly GivenWord[] = [];
const POSSESSIVE = /^['’]s(?![\p{L}\p{N}])/u;
const STEP = /[\p{L}\p{M}\p{N}]+|[\s\S]/uy;

/**
 * Marks words with inline phonemes and words from user lexicons (the first lexicon that has a word or its plural
 * decides), and inserts respellings.
 */
export function markGivenWords(
  sentence: RewrittenText,
  lists: readonly UserLexicon[],
  isPlural?: IsPlural,
  accent = AMERICAN,
): Marked {
  const inline = sentence.text.includes("](/") ? inlinePhonemes(sentence.text) : [];
  if (inline.length === 0 && lists.length === 0) return { text: sentence, given: NONE };
  const marks = new Marks(accent);
  const own = markInline(sentence, inline, marks).replace(COMPOSED, (run) => run.normalize("NFC"));
  const text = markListed(own, (at) => firstOf(lists, own.text, at, isPlural), marks);
  return { text: marks.withoutUnreadable(text), given: marks.given };
}

/**
 * Returns how many code points longer the text is as spoken than as written, counting each given word at least at its
 * written length.
 */
export function addedCharacters(spoken: string, words: readonly LexiconEntry[], accent = AMERICAN): number {
  const added = (said: string, word: string) => Math.max(0, characterCount(said) - characterCount(word));
  let chars = 0;
  let rest = "";
  let at = 0;
  for (const { from, to, word, written } of inlinePhonemes(spoken)) {
    chars += added(written, word);
    rest += `${spoken.slice(at, from)}${String.fromCharCode(FIRST_MARK)}`;
    at = to;
  }
  if (words.length === 0) return chars;
  const own = createUserLexicon(words, accent);
  const text = `${rest}${spoken.slice(at)}`.normalize("NFC");
  for (const { from, to, respelling, phonemes } of listedIn(text, (place) => own.at(text, place)))
    chars += added(respelling ?? phonemes ?? "", text.slice(from, to));
  return chars;
}

/** Returns the index of the given word that a character stands for, or -1. */
export function markedWord(character: string, given: readonly GivenWord[]): number {
  const index = character.charCodeAt(0) - FIRST_MARK;
  return index >= 0 && index < given.length ? index : -1;
}

class Marks {
  readonly accent: Accent;
  readonly given: GivenWord[] = [];
  #hasUnreadable = false;

  constructor(accent: Accent) {
    this.accent = accent;
  }

  get areUsedUp(): boolean {
    return this.given.length >= MARKS;
  }

  /** @param phonemes `null` reads the word as spelled */
  add(word: string, phonemes: string | null): string {
    this.#hasUnreadable ||= phonemes === null;
    this.given.push({ word, phonemes: phonemes ?? "", isUnreadable: phonemes === null });
    return String.fromCharCode(FIRST_MARK + this.given.length - 1);
  }

  withoutUnreadable(text: RewrittenText): RewrittenText {
    if (!this.#hasUnreadable) return text;
    return text.replace(PRIVATE, (mark) => {
      const { word, isUnreadable } = this.given[markedWord(mark, this.given)]!;
      return isUnreadable ? word : mark;
    });
  }
}

/** Marks inline phonemes, and removes private-use characters from the text. */
function markInline(sentence: RewrittenText, inline: readonly InlinePhonemes[], marks: Marks): RewrittenText {
  const { text } = sentence;
  const replacements: Replacement[] = [];
  const addPlain = (from: number, to: number) => {
    for (const { index } of text.slice(from, to).matchAll(PRIVATE))
      replacements.push({ from: from + index, to: from + index + 1, words: "" });
  };
  let from = 0;
  for (const { from: start, to, word, written } of inline) {
    if (marks.areUsedUp) break;
    addPlain(from, start);
    const read = readGivenPhonemes(written, marks.accent);
    // A language model's output cannot be rejected any more.
    const phonemes = "phonemes" in read ? read.phonemes : null;
    const possessive = phonemes === null ? "" : possessiveIn(text.slice(to, to + 3));
    const wordFrom = start + 1;
    from = to + possessive.length;
    replacements.push(
      { from: start, to: wordFrom, words: "" },
      {
        from: wordFrom,
        to: wordFrom + word.length,
        words: marks.add(word, withPossessive(phonemes, possessive, marks.accent)),
      },
      { from: wordFrom + word.length, to: from, words: "" },
    );
  }
  addPlain(from, text.length);
  return sentence.edited(replacements);
}

function markListed(
  traced: RewrittenText,
  find: (at: number) => FoundWord | undefined,
  marks: Marks,
): RewrittenText {
  const { text } = traced;
  const replacements: Replacement[] = [];
  for (const { from, to: end, phonemes, respelling, pluralOf } of listedIn(text, find)) {
    if (phonemes === null) {
      replacements.push({ from, to: end, words: respelling ?? "" });
      continue;
    }
    const said = pluralOf === null ? phonemes : marks.accent.endings.s(phonemes);
    if (said === null || marks.areUsedUp) continue;
    const possessive = possessiveIn(text.slice(end, end + 3));
    const words = marks.add(text.slice(from, end), withPossessive(said, possessive, marks.accent));
    replacements.push({ from, to: end + possessive.length, words });
  }
  return traced.edited(replacements);
}

function* listedIn(
  text: string,
  find: (at: number) => FoundWord | undefined,
): Generator<FoundWord & { readonly from: number; readonly to: number }> {
  for (let at = 0; at < text.length; ) {
    const found = find(at);
    STEP.lastIndex = at;
    const to = at + (found?.length ?? STEP.exec(text)?.[0].length ?? 1);
    if (found !== undefined) yield { ...found, from: at, to };
    at = to;
  }
}

function possessiveIn(following: string): string {
  return POSSESSIVE.exec(following)?.[0] ?? "";
}

function withPossessive(phonemes: string | null, possessive: string, { endings }: Accent): string | null {
  return phonemes === null || possessive === "" ? phonemes : (endings.s(phonemes) ?? phonemes);
}

function firstOf(
  lists: readonly UserLexicon[],
  text: string,
  at: number,
  isPlural?: IsPlural,
): FoundWord | undefined {
  for (const list of lists) {
    const found = list.at(text, at, isPlural);
    if (found !== undefined) return found;
  }
  return undefined;
}
