import { readGivenPhonemes } from "./given-phonemes.ts";
import { hasSpeakable } from "./speakable.ts";

/** A user's word and how it is said: `/phonemes/`, or other words that are read in its place. */
export type OwnWord = readonly [word: string, said: string];

/** What is wrong with a user's word: with the word itself, or from which character on with what stands for it. */
export interface WordFault {
  readonly of: "word" | "said";
  readonly why: string;
}

export const MAX_WORD_CHARS = 64;
export const MAX_SAID_CHARS = 200;

/** What is wrong with a user's word, or null. */
export function faultOf([word, said]: OwnWord): WordFault | null {
  const fault = (of: WordFault["of"], why: string): WordFault => ({ of, why });
  if (Array.from(word).length > MAX_WORD_CHARS)
    return fault("word", `has more than ${MAX_WORD_CHARS} characters`);
  if (word !== word.trim()) return fault("word", "begins or ends with a space");
  if (!hasSpeakable(word)) return fault("word", "has no letter or digit");
  if (NOT_IN_WORD.test(word)) return fault("word", "has a bracket or a control character");
  if (Array.from(said).length > MAX_SAID_CHARS)
    return fault("said", `has more than ${MAX_SAID_CHARS} characters`);
  if (said.startsWith("/")) {
    if (said.length < 3 || !said.endsWith("/"))
      return fault("said", "begins with a slash and does not end with one");
    const read = readGivenPhonemes(said.slice(1, -1));
    return "why" in read ? fault("said", `character ${read.at + 2} ${read.why}`) : null;
  }
  if (!hasSpeakable(said)) return fault("said", "has no letter or digit");
  return NOT_IN_WORD.test(said) ? fault("said", "has a bracket or a control character") : null;
}

/** Finds users' words in a text. */
export interface OwnWords {
  /** The word that begins at a place, the longest if there are several; undefined where none does. */
  at(text: string, place: number): FoundWord | undefined;
}

export interface FoundWord {
  readonly length: number;
  /** One of the two: what is read instead, or the phonemes. */
  readonly respelling: string | null;
  readonly phonemes: string | null;
}

const NOT_IN_WORD = /[[\]\p{Cc}\u2028\u2029\ue000-\uf8ff]/u;
const WORD_PART = /[\p{L}\p{M}\p{N}]/u;
const HEAD = /^[\p{L}\p{M}\p{N}]+/u;

interface Known extends FoundWord {
  readonly word: string;
  /** A word in small letters is meant in any case. */
  readonly anyCase: boolean;
}

/**
 * Users' words made ready to be found, in time that does not grow with their number. Of two of the same spelling the
 * last counts. Those with a fault are left out.
 */
export function createOwnWords(words: Iterable<OwnWord>): OwnWords {
  const byHead = new Map<string, Map<string, Known>>();
  for (const own of words) {
    if (faultOf(own) !== null) continue;
    const word = plain(own[0]).normalize("NFC");
    const head = headOf(word, 0);
    const known = byHead.get(head) ?? new Map<string, Known>();
    byHead.set(
      head,
      known.set(word, { word, ...saying(own[1]), length: word.length, anyCase: word === word.toLowerCase() }),
    );
  }
  const lists = new Map(
    [...byHead].map(([head, known]) => [head, [...known.values()].sort((a, b) => b.length - a.length)]),
  );

  return {
    at(text, place) {
      return lists.get(headOf(text, place))?.find(({ word, anyCase, length }) => {
        const there = plain(text.slice(place, place + length));
        if (there !== word && !(anyCase && there.toLowerCase() === word)) return false;
        return !(isWordPart(text, place + length) && isWordPart(text, place + length - 1));
      });
    },
  };
}

/** Whether a letter or digit stands at a place. */
function isWordPart(text: string, at: number): boolean {
  const code = text.codePointAt(at);
  return code !== undefined && WORD_PART.test(String.fromCodePoint(code));
}

/** The letters and digits at a place, in small letters, or the sign that stands there. */
function headOf(text: string, at: number): string {
  const window = text.slice(at, at + MAX_WORD_CHARS * 2);
  return (HEAD.exec(window)?.[0] ?? window.charAt(0)).toLowerCase();
}

function saying(said: string): Pick<FoundWord, "respelling" | "phonemes"> {
  if (!said.startsWith("/")) return { respelling: said, phonemes: null };
  const read = readGivenPhonemes(said.slice(1, -1));
  return { respelling: null, phonemes: "phonemes" in read ? read.phonemes : "" };
}

function plain(text: string): string {
  return text.replaceAll("’", "'");
}
