import { hasSpeakable } from "../characters.ts";
import { type Accent, AMERICAN } from "./accent.ts";
import { describeFault, readGivenPhonemes } from "./given-phonemes.ts";

export type LexiconEntry = readonly [word: string, said: string];

const MAX_WORD_CHARS = 64;
const MAX_SAID_CHARS = 200;

/** Describes what is wrong with an entry and the remedy, or returns `null`. */
export function lexiconEntryFault([word, said]: LexiconEntry, accent = AMERICAN): string | null {
  const ofWord = textFault(word, MAX_WORD_CHARS);
  if (ofWord !== null) return `the word ${ofWord}`;
  if (word !== word.trim()) return "the word begins or ends with a space: take the space away";
  const ofSaid = said.startsWith("/") ? tooLong(said, MAX_SAID_CHARS) : textFault(said, MAX_SAID_CHARS);
  if (ofSaid !== null) return `what is said ${ofSaid}`;
  if (!said.startsWith("/")) return null;
  if (said.length < 2 || !said.endsWith("/"))
    return "what is said begins with a slash and does not end with one: write /phonemes/, or words without the slash";
  if (said === "//") return "what is said has nothing between its slashes: write phonemes there, as in /fˈu/";
  const read = readGivenPhonemes(said.slice(1, -1), accent);
  return "why" in read ? describeFault(read, 1, " of what is said") : null;
}

export interface UserLexicon {
  /** Returns the longest word or plural that begins at a position. */
  at(text: string, place: number, isPlural?: IsPlural): FoundWord | undefined;
}

export interface FoundWord {
  readonly length: number;
  /** A respelling, or else phonemes; for a plural without its ending. */
  readonly respelling: string | null;
  readonly phonemes: string | null;
  /** The entry whose plural this is; `null` for the entry itself. */
  readonly pluralOf: string | null;
}

/** Decides whether a word may be an entry's plural: "gas" is not the plural of "ga". */
export type IsPlural = (plural: string, of: string) => boolean;

const NOT_IN_WORD = /[[\]\p{Cc}\u2028\u2029\ue000-\uf8ff]/u;
const WORD_PART = /[\p{L}\p{M}\p{N}]/u;
const ENDS_IN_LETTER = /[\p{L}\p{M}\p{N}]$/u;
const LETTER_A = /(?<!\S)A(?!\S)/g;
const HEAD = /^[\p{L}\p{M}\p{N}]+/u;

type Saying = Pick<FoundWord, "respelling" | "phonemes">;

interface Known extends FoundWord {
  readonly word: string;
  readonly anyCase: boolean;
}

/**
 * Builds a lexicon with constant-time lookup. The last of equal entries counts; faulty ones are skipped.
 *
 * @param accent of the phonemes
 */
export function createUserLexicon(words: Iterable<LexiconEntry>, accent = AMERICAN): UserLexicon {
  const known = new Map<string, Known>();
  for (const own of words) {
    if (lexiconEntryFault(own, accent) !== null) continue;
    const word = plain(own[0]).normalize("NFC");
    known.set(word, knownWord(word, saying(own[1], accent)));
  }
  for (const { word, respelling, phonemes } of [...known.values()]) {
    const said = pluralSaying({ respelling, phonemes });
    if (said === null) continue;
    for (const plural of pluralsOf(word)) {
      if (!known.has(plural)) known.set(plural, knownWord(plural, said, word));
    }
  }
  const byHead = new Map<string, Known[]>();
  for (const each of [...known.values()].sort((a, b) => b.length - a.length)) {
    const head = headOf(each.word, 0);
    const same = byHead.get(head);
    if (same === undefined) byHead.set(head, [each]);
    else same.push(each);
  }

  return {
    at(text, place, isPlural = () => true) {
      return byHead.get(headOf(text, place))?.find(({ word, anyCase, length, pluralOf }) => {
        const there = plain(text.slice(place, place + length));
        if (there !== word && !(anyCase && there.toLowerCase() === word)) return false;
        if (isWordPart(text, place + length) && isWordPart(text, place + length - 1)) return false;
        return pluralOf === null || isPlural(there, pluralOf);
      });
    },
  };
}

const FORM = "write a word, a tab, and its /phonemes/ or other words on each line";
const XML = /^[\s\ufeff]{0,100}<(?:\?xml|lexicon)\b/;

const MAX_LINES = 10_000;

/**
 * Parses a lexicon file: a word, a tab, and its `/phonemes/` or respelling per line; `#` begins a comment. Throws an
 * Error that names the file, the line and the problem. Phonemes may be those of any accent.
 */
export function parseLexicon(text: string, file: string, accents = [AMERICAN]): LexiconEntry[] {
  if (XML.test(text)) throw new Error(`${file} is a PLS (XML) lexicon, which is not read: ${FORM}`);
  const words: LexiconEntry[] = [];
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  if (lines.length > MAX_LINES)
    throw new Error(`${file} has more than ${MAX_LINES} lines: keep to the words that you need`);
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
    const where = `${file}, line ${index + 1}`;
    const [word = "", said, ...rest] = line.split("\t");
    if (said === undefined) throw new Error(`${where}, has no tab: ${FORM}`);
    if (rest.length > 0) throw new Error(`${where}, has more than one tab: ${FORM}`);
    const own = [word.trim(), said.trim()] as const;
    const [first, ...others] = accents;
    const fault = lexiconEntryFault(own, first);
    if (fault !== null && others.every((accent) => lexiconEntryFault(own, accent) !== null))
      throw new Error(`${where}: ${fault}`);
    words.push(own);
  }
  return words;
}

function textFault(text: string, max: number): string | null {
  const long = tooLong(text, max);
  if (long !== null) return long;
  if (!hasSpeakable(text)) return "has no letter or digit: it needs at least one";
  return NOT_IN_WORD.test(text) ? "has a bracket or a control character: write it without" : null;
}

function tooLong(text: string, max: number): string | null {
  return Array.from(text).length > max ? `has more than ${max} characters: write a shorter one` : null;
}

function knownWord(word: string, said: Saying, pluralOf: string | null = null): Known {
  return { word, ...said, length: word.length, anyCase: word === word.toLowerCase(), pluralOf };
}

function pluralsOf(word: string): string[] {
  if (!ENDS_IN_LETTER.test(word)) return [];
  const plurals = [`${word}s`];
  if (/(?:[sxz]|[cs]h)$/i.test(word)) plurals.push(`${word}es`);
  if (/[^aeiou]y$/.test(word)) plurals.push(`${word.slice(0, -1)}ies`);
  return plurals;
}

function pluralSaying({ respelling, phonemes }: Saying): Saying | null {
  if (phonemes !== null) return { respelling, phonemes };
  // Read like a possessive, since an s after "A P I" would not be read as an ending.
  return respelling !== null && ENDS_IN_LETTER.test(respelling)
    ? { respelling: `${respelling}'s`, phonemes: null }
    : null;
}

function isWordPart(text: string, at: number): boolean {
  const code = text.codePointAt(at);
  return code !== undefined && WORD_PART.test(String.fromCodePoint(code));
}

/** Returns the letters and digits at a position in lower case, or the sign there. */
function headOf(text: string, at: number): string {
  const window = text.slice(at, at + MAX_WORD_CHARS * 2);
  return (HEAD.exec(window)?.[0] ?? window.charAt(0)).toLowerCase();
}

/** A lone capital A in a respelling is the letter, not the article. */
function saying(said: string, accent: Accent): Saying {
  if (!said.startsWith("/")) return { respelling: said.replace(LETTER_A, "eh"), phonemes: null };
  const read = readGivenPhonemes(said.slice(1, -1), accent);
  return { respelling: null, phonemes: "phonemes" in read ? read.phonemes : "" };
}

function plain(text: string): string {
  return text.replaceAll("’", "'");
}
