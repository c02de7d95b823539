import { capitalise, isAllLetters, wordMap } from "../characters.ts";
import { indexOf, stringAt } from "../tables/string-table.ts";
import type { Dictionary } from "../tables/text-tables.ts";
import { PRIMARY, SECONDARY, type Stress, withStress } from "./stress.ts";

export interface Following {
  /** First sound of the next word; `null` before a stop and at the end. */
  readonly sound: "vowel" | "consonant" | null;
  readonly to: boolean;
}

export interface Words {
  /** Whether either dictionary has the word, possibly with its first letter in the other case. */
  listed(word: string): boolean;
  listedInGold(word: string): boolean;
  known(word: string): boolean;
  /** Phonemes for a part of speech and context; spells words that are marked so; `null` if unknown. */
  look(word: string, tag: string | null, stress: Stress, following: Following | null): string | null;
  spell(word: string): string | null;
  /** The gold dictionary's phonemes for a word, or for one of its tags. */
  own(word: string, tag?: string): string | null;
}

export const SIGNS = wordMap("% percent,& and,+ plus,@ at");

/** Phonemes, or phonemes by part of speech including DEFAULT. `null` means spelled. */
export type Entry = string | ReadonlyMap<string, string | null>;

export interface WordEntries {
  indexOf(word: string): number;
  entryAt(index: number): Entry;
}

/** `gold` is curated, `silver` larger. */
export interface Dictionaries {
  readonly gold: WordEntries;
  readonly silver: WordEntries;
}

const ASCII_LETTERS = /^[A-Za-z]+$/;

/** @param names take precedence over the dictionaries; lower-case ones match in any case */
export function createWords(dictionaries: Dictionaries, names: ReadonlyMap<string, string>): Words {
  const named = (word: string): string | undefined => names.get(word) ?? names.get(word.toLowerCase());
  const gold = (word: string): Entry | undefined => named(word) ?? entryOf(dictionaries.gold, word);
  const silver = (word: string): Entry | undefined => entryOf(dictionaries.silver, word);
  const listedInGold = (word: string): boolean =>
    named(word) !== undefined || isListed(dictionaries.gold, word);
  const listed = (word: string): boolean => listedInGold(word) || isListed(dictionaries.silver, word);

  return { listed, listedInGold, known, look, spell, own };

  function known(word: string): boolean {
    if (listed(word) || SIGNS.has(word)) return true;
    if (!ASCII_LETTERS.test(word)) return false;
    if (word.length === 1) return true;
    if (word === word.toUpperCase() && listedInGold(word.toLowerCase())) return true;
    return word.slice(1) === word.slice(1).toUpperCase();
  }

  function look(
    word: string,
    tag: string | null,
    stress: Stress,
    following: Following | null,
  ): string | null {
    let looked = word;
    let properName = false;
    if (word === word.toUpperCase() && !listedInGold(word)) {
      looked = word.toLowerCase();
      properName = tag === "NNP";
    }
    const entry = gold(looked) ?? (properName ? undefined : silver(looked));
    const phonemes =
      entry === undefined || typeof entry === "string" ? (entry ?? null) : byTag(entry, tag, following);
    if (phonemes === null || (properName && !phonemes.includes(PRIMARY))) {
      const spelled = spell(looked);
      if (spelled !== null) return spelled;
    }
    return phonemes === null ? null : withStress(phonemes, stress);
  }

  function spell(word: string): string | null {
    let joined = "";
    for (const letter of word) {
      if (!isAllLetters(letter)) continue;
      const name = own(letter.toUpperCase());
      if (name === null) return null;
      joined += name;
    }
    const phonemes = withStress(joined, 0);
    const last = phonemes.lastIndexOf(SECONDARY);
    return last < 0 ? phonemes : phonemes.slice(0, last) + PRIMARY + phonemes.slice(last + 1);
  }

  function own(word: string, tag = "DEFAULT"): string | null {
    const entry = gold(word);
    if (entry === undefined || typeof entry === "string") return entry ?? null;
    return entry.get(tag) ?? null;
  }
}

/** Maps a fine tag to the dictionaries' classes: VBZ → VERB. */
export function parentTag(tag: string | null): string | null {
  if (tag === null) return null;
  if (tag.startsWith("VB")) return "VERB";
  if (tag.startsWith("NN")) return "NOUN";
  if (tag.startsWith("RB") || tag.startsWith("ADV")) return "ADV";
  if (tag.startsWith("JJ") || tag.startsWith("ADJ")) return "ADJ";
  return tag;
}

function byTag(
  entry: ReadonlyMap<string, string | null>,
  tag: string | null,
  following: Following | null,
): string | null {
  let name = tag;
  if (following !== null && following.sound === null && entry.has("None")) name = "None";
  else if (tag === null || !entry.has(tag)) name = parentTag(tag);
  const phonemes = name === null ? undefined : entry.get(name);
  return phonemes === undefined ? (entry.get("DEFAULT") ?? null) : phonemes;
}

export function packedWords({ words, phonemes, tagged }: Dictionary): WordEntries {
  return {
    indexOf: (word) => indexOf(words, word),
    entryAt(index) {
      const said = stringAt(phonemes, index);
      return said === "\0" ? (tagged.get(stringAt(words, index)) ?? "") : said;
    },
  };
}

function entryOf(dictionary: WordEntries, word: string): Entry | undefined {
  const index = indexWithCase(dictionary, word);
  return index < 0 ? undefined : dictionary.entryAt(index);
}

export function isListed(dictionary: WordEntries, word: string): boolean {
  return indexWithCase(dictionary, word) >= 0;
}

/** Looks up a word as spelled, then with its first letter's case changed. */
function indexWithCase(dictionary: WordEntries, word: string): number {
  const index = dictionary.indexOf(word);
  if (index >= 0 || word.length < 2) return index;
  const lower = word.toLowerCase();
  if (word === lower) return dictionary.indexOf(capitalise(word));
  return word === capitalise(lower) ? dictionary.indexOf(lower) : -1;
}
