import { capitalise, isAllLetters } from "../characters.ts";
import type { Endings } from "./accent.ts";
import { type Following, parentTag, SIGNS, type Words } from "./dictionary.ts";
import type { Stress } from "./stress.ts";

/** Returns the phonemes of a word that is no number; `null` if unknown. */
export type WordReading = (word: string, tag: string, stress: Stress, following: Following) => string | null;

/** Shortest words in capitals that are read by their stem, or because the silver dictionary lists them. */
const MIN_SHOUTED_STEM_CHARS = 4;
const MIN_SHOUTED_LISTED_CHARS = 5;

export function createWordReading(words: Words, suffixes: SuffixRules): WordReading {
  const { known, look, listed } = words;

  return (written, tag, stress, following) => {
    const special = readSpecial(words, written, tag, stress, following);
    if (special !== null) return special;
    const word = shouldLower(written, tag, stress, following) ? written.toLowerCase() : written;
    if (known(word)) return look(word, tag, stress, following);
    if (word.endsWith("s'")) {
      const possessive = `${word.slice(0, -2)}'s`;
      if (known(possessive)) return look(possessive, tag, stress, following);
    }
    if (word.endsWith("'") && known(word.slice(0, -1)))
      return look(word.slice(0, -1), tag, stress, following);
    return readStem(word, tag, stress, following);
  };

  function readStem(word: string, tag: string, stress: Stress, following: Following): string | null {
    return (
      suffixes.s(word, tag, stress, following) ??
      suffixes.ed(word, tag, stress, following) ??
      suffixes.ing(word, tag, stress ?? 0.5, following)
    );
  }

  /** Returns whether capitals carry no meaning: at the start of a sentence, or in a run of capitals. */
  function shouldLower(word: string, tag: string, stress: Stress, following: Following): boolean {
    const lower = word.toLowerCase();
    if (word.length < 2 || word === lower || !isAllLetters(word.replaceAll("'", ""))) return false;
    const allUpper = word === word.toUpperCase();
    if (!allUpper && word.slice(1) !== lower.slice(1)) return false;
    if (listed(word)) return false;
    const stemmed = (): boolean =>
      suffixes.s(lower, tag, stress, following) !== null ||
      suffixes.ed(lower, tag, stress, following) !== null ||
      suffixes.ing(lower, tag, stress, following) !== null;
    if (tag !== "NNP" || Array.from(word).length > 7) return listed(lower) || stemmed();
    if (!allUpper || words.listedInGold(lower)) return false;
    if (listed(lower)) return word.length >= MIN_SHOUTED_LISTED_CHARS;
    return word.length >= MIN_SHOUTED_STEM_CHARS && stemmed();
  }
}

/** Reads words whose phonemes depend on the part of speech or the context. */
function readSpecial(
  { look, spell, own }: Words,
  word: string,
  tag: string,
  stress: Stress,
  following: Following,
): string | null {
  if (tag === "ADD" && word === ".") return look("dot", null, -0.5, null);
  if (tag === "ADD" && word === "/") return look("slash", null, -0.5, null);
  const sign = SIGNS.get(word);
  if (sign !== undefined) return look(sign, null, null, null);
  if (word.includes(".") && isInitials(word)) return spell(word);
  const noun = tag.startsWith("NN");
  const isShouted = word.length > 1 && word === word.toUpperCase();
  const lower = word.toLowerCase();
  switch (isShouted || word === capitalise(word) || word === lower ? lower : "") {
    case "a":
      return tag === "DT" ? "ɐ" : "ˈA";
    case "am":
      if (noun) return spell(word);
      return following.sound === null || word !== "am" || (stress ?? 0) > 0 ? own("am") : "ɐm";
    case "an":
      return isShouted && noun ? spell(word) : "ɐn";
    case "i":
      return word === "I" && tag === "PRP" ? "ˌI" : null;
    case "by":
      return parentTag(tag) === "ADV" ? "bˈI" : null;
    case "to":
      if (isShouted && tag !== "TO" && tag !== "IN") return null;
      if (following.sound === null) return own("to");
      return following.sound === "vowel" ? "tʊ" : "tə";
    case "in":
      if (isShouted && tag === "NNP") return null;
      return following.sound === null || tag !== "IN" ? "ˈɪn" : "ɪn";
    case "the":
      if (isShouted && tag !== "DT") return null;
      return following.sound === "vowel" ? "ði" : "ðə";
    case "used":
      return own("used", (tag === "VBD" || tag === "JJ") && following.to ? "VBD" : "DEFAULT");
  }
  if (tag === "IN" && /^vs\.?$/i.test(word)) return look("versus", null, null, null);
  return null;
}

/** "U.S.", "e.g.", "Ph.D.": letters and dots, no piece longer than two. */
function isInitials(word: string): boolean {
  const inner = word.replace(/^\.+/, "");
  const dot = inner.indexOf(".");
  if (dot < 0 || inner.slice(dot).replaceAll(".", "") === "") return false;
  if (word.split(".").some((piece) => Array.from(piece).length > 2)) return false;
  return isAllLetters(word.replaceAll(".", ""));
}

type SuffixRule = (
  word: string,
  tag: string | null,
  stress: Stress,
  following: Following | null,
) => string | null;

export interface SuffixRules {
  readonly s: SuffixRule;
  readonly ed: SuffixRule;
  readonly ing: SuffixRule;
}

export function createSuffixRules(words: Pick<Words, "known" | "look">, endings: Endings): SuffixRules {
  const { known, look } = words;
  const ending =
    (stemOf: (word: string) => string | null, add: Endings["ing"]): SuffixRule =>
    (word, tag, stress, following) => {
      const stem = stemOf(word);
      const phonemes = stem === null ? null : look(stem, tag, stress, following);
      return phonemes === null || stem === null ? null : add(phonemes, stem);
    };
  return {
    s: ending(stemOfS, endings.s),
    ed: ending(stemOfEd, endings.ed),
    ing: ending(stemOfIng, endings.ing),
  };

  function stemOfS(word: string): string | null {
    if (word.length < 3 || !word.endsWith("s")) return null;
    if (!word.endsWith("ss") && known(word.slice(0, -1))) return word.slice(0, -1);
    const es = word.length > 4 && word.endsWith("es") && !word.endsWith("ies");
    if ((word.endsWith("'s") || es) && known(word.slice(0, -2))) return word.slice(0, -2);
    const y = `${word.slice(0, -3)}y`;
    return word.length > 4 && word.endsWith("ies") && known(y) ? y : null;
  }

  function stemOfEd(word: string): string | null {
    if (word.length < 4 || !word.endsWith("d")) return null;
    if (!word.endsWith("dd") && known(word.slice(0, -1))) return word.slice(0, -1);
    const ed = word.length > 4 && word.endsWith("ed") && !word.endsWith("eed");
    return ed && known(word.slice(0, -2)) ? word.slice(0, -2) : null;
  }

  function stemOfIng(word: string): string | null {
    if (word.length < 5 || !word.endsWith("ing")) return null;
    return endings.ingStems(word).find(known) ?? null;
  }
}
