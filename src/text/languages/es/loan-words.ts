import { wordMap } from "../../characters.ts";
import type { WordSources } from "../language.ts";
import type { Sound } from "./spelling.ts";
import { RESPELLED } from "./word-sounds.ts";

/** American phonemes as Spanish ones. Reduced vowels follow the spelling. */
const FROM_ENGLISH = wordMap(
  "A A,I I,O ow,W W,Y oɪ,ɪ i,ɛ e,æ a,ɑ o,ɔ o,ʊ u,ʌ a,ɜ e,ə e,ɐ a,ᵊ e,ᵻ i,ʒ ʤ,ð d,ŋ n,ɹ ɾ,h x,T t,ɾ t,ʔ t,v b,z s,Q ow",
);
const VOWELS = "AIOQWYaeiouɪɛæɑɔʊʌɜəɐᵊᵻ";
const REDUCED = "əɑɐᵊᵻO";
/** Spellings that Spanish words do not have. */
const LOOKS_ENGLISH =
  /w|k(?:e?s?$|[^aeiou])|sh|th|ph|oo|ou|ee[kmptfvl]|(?:qu|gr|t)een|[fn]eed|ck|tt|ss|pp|ff|mm|ght|[bcfghjkpqv]s?$|^s[cptkmnlqfv]|ing$|[^aeiou]y$|y[^aeiou]/;
const SPANISH_LETTERS = /[áéíóúüñç]/;

/** Reads a word that looks English and that the English dictionary has, or returns `null`. */
export function loanWord(word: string, { english }: Pick<WordSources, "english">): Sound[] | null {
  if (word.length < 3 || RESPELLED.has(word) || SPANISH_LETTERS.test(word) || !LOOKS_ENGLISH.test(word))
    return null;
  const phonemes = english(word);
  if (phonemes === null) return null;
  const spelled = word.replace(/(?<=[^aeiou])e(s?)$/, "$1").match(/[aeiou]+w?|y(?![aeiou])|w(?=$)/g) ?? [];
  const isAligned = spelled.length === Array.from(phonemes).filter((each) => VOWELS.includes(each)).length;
  const sounds: Sound[] = [];
  let stress: Sound["stress"] = "";
  let vowels = 0;
  for (const phoneme of phonemes) {
    if (phoneme === "ˈ" || phoneme === "ˌ") {
      stress = phoneme;
      continue;
    }
    const isVowel = VOWELS.includes(phoneme);
    const [written = "", second] = isVowel ? (spelled[vowels++] ?? "").replace("y", "i") : "";
    const isAsWritten =
      isAligned && REDUCED.includes(phoneme) && written !== "" && (phoneme !== "O" || !second);
    const said = isAsWritten ? written : FROM_ENGLISH.get(phoneme);
    const [first = "", ...rest] = said ?? phoneme;
    sounds.push(isVowel ? { symbol: first, isVowel, stress } : { symbol: first });
    sounds.push(...rest.map((symbol) => ({ symbol })));
    if (isVowel) stress = "";
  }
  if (/^s[ptkmnlf]/.test(phonemes)) sounds.unshift({ symbol: "e", isVowel: true, stress: "" });
  if (sounds[0]?.symbol === "ɾ") sounds[0].symbol = "r";
  return sounds;
}
