import { readGivenPhonemes } from "./given-phonemes.ts";
import { inlinePhonemes } from "./inline-phonemes.ts";
import type { FoundWord, IsPlural, OwnWords } from "./own-words.ts";
import { withS } from "./suffixes.ts";

/** A sentence in which one character of Unicode's private use stands for each word whose phonemes are given. */
export interface Marked {
  readonly text: string;
  readonly given: readonly GivenWord[];
}

export interface GivenWord {
  readonly word: string;
  readonly phonemes: string;
}

const FIRST_MARK = 0xe000;
const MARKS = 0xf8ff - FIRST_MARK + 1;
const PRIVATE = /[\ue000-\uf8ff]/g;
const NONE: readonly GivenWord[] = [];
const POSSESSIVE = /^['’]s(?![\p{L}\p{N}])/u;
/** What is passed over at once where no word of a list begins: a word, or one sign. */
const STEP = /[\p{L}\p{M}\p{N}]+|[\s\S]/uy;

/**
 * Takes out of a sentence what it says of its own words (`[word](/phonemes/)`) and the words that users gave: the first
 * list that has one or its plural decides. Respelled words are replaced by their spelling. A sentence without either is given back.
 */
export function markGivenWords(sentence: string, lists: readonly OwnWords[], isPlural?: IsPlural): Marked {
  const inline = sentence.includes("](/") ? inlinePhonemes(sentence) : [];
  if (inline.length === 0 && lists.length === 0) return { text: sentence, given: NONE };
  const find: Find = (text, at) => firstOf(lists, text, at, isPlural);
  const writer = new MarkedWriter();
  let from = 0;
  for (const { from: start, to, word, written } of inline) {
    writeListed(writer, sentence.slice(from, start), find);
    const read = readGivenPhonemes(written);
    // What a language model wrote cannot be refused any more: its word is read.
    from = to + writer.word(word, "phonemes" in read ? read.phonemes : null, sentence.slice(to, to + 3));
  }
  writeListed(writer, sentence.slice(from), find);
  return writer;
}

/** Which given word a character stands for, or -1. */
export function markedWord(character: string, given: readonly GivenWord[]): number {
  const index = character.charCodeAt(0) - FIRST_MARK;
  return index >= 0 && index < given.length ? index : -1;
}

class MarkedWriter implements Marked {
  text = "";
  readonly given: GivenWord[] = [];

  /** Writes the mark of a word; gives how much of what follows belongs to it: a possessive ending, or nothing. */
  word(word: string, phonemes: string | null, following: string): number {
    if (phonemes === null || this.given.length >= MARKS) {
      this.text += word;
      return 0;
    }
    const possessive = POSSESSIVE.exec(following)?.[0] ?? "";
    this.text += String.fromCharCode(FIRST_MARK + this.given.length);
    this.given.push({ word, phonemes: possessive === "" ? phonemes : (withS(phonemes) ?? phonemes) });
    return possessive.length;
  }
}

type Find = (text: string, at: number) => FoundWord | undefined;

function writeListed(writer: MarkedWriter, part: string, find: Find): void {
  const text = part.replace(PRIVATE, "").normalize("NFC");
  for (let at = 0; at < text.length; ) {
    const found = find(text, at);
    if (found === undefined) {
      STEP.lastIndex = at;
      const step = STEP.exec(text)?.[0] ?? text.charAt(at);
      writer.text += step;
      at += step.length;
      continue;
    }
    const end = at + found.length;
    if (found.phonemes === null) writer.text += found.respelling;
    else {
      const phonemes = found.pluralOf === null ? found.phonemes : withS(found.phonemes);
      at += writer.word(text.slice(at, end), phonemes, text.slice(end, end + 3));
    }
    at += found.length;
  }
}

function firstOf(
  lists: readonly OwnWords[],
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
