import { wordMap } from "../../characters.ts";

/** American sounds and the Italian ones that stand for them in loan words. */
const SOUNDS = wordMap(
  "ɑ ɔ,æ a,ʌ a,ɪ i,ʊ u,ə e,ɜ ɛ,ɐ a,ᵊ e,ᵻ i,A ei,I ai,W au,O o,Q o,Y ɔi,ɹ r,ð d,θ t,h ,ʒ ʤ,T t,ʔ t,ɾ t,ː ",
);
const VOWELS = "ɑæʌɪʊəɜɐᵊᵻAIWOQYaeiouɛɔ";
/** Vowels that are spoken as they are spelled, since speakers of Italian know how. */
const AS_SPELLED = "ɑəɐᵊᵻ";
const LOOKS_ENGLISH = /[kwjy]|sh|wh|th|ph|ck|oo|ee|ea[dmk]|ou|ght|ing$/;
const ENDS_ENGLISH = /^.{3,}(?:[bcdfghmpqtvxz]|[^aeiou]s|[^aeiou][lnr]|er)$/;
const ITALIAN_LETTERS = /[àèéìòóù]/;

/** Returns whether a word looks as no Italian word does: letters, clusters or a last consonant. */
export function looksEnglish(word: string): boolean {
  return (LOOKS_ENGLISH.test(word) || ENDS_ENGLISH.test(word)) && !ITALIAN_LETTERS.test(word);
}

/** Maps the American phonemes of a word to the alphabet of Italian voices. */
export function italianOf(word: string, phonemes: string): string {
  const spelled = vowelsOf(word, Array.from(phonemes).filter((sound) => VOWELS.includes(sound)).length);
  let text = "";
  let vowels = 0;
  let stress = "";
  for (const sound of phonemes) {
    const isVowel = VOWELS.includes(sound);
    const letter = isVowel ? (spelled[vowels++] ?? "").charAt(0).replace("y", "i") : "";
    if (sound === "æ" && stress === "ˈ") text += "ɛ";
    else if (AS_SPELLED.includes(sound) && letter !== "")
      text += sound === "ɑ" && letter === "o" ? "ɔ" : letter;
    else text += SOUNDS.get(sound) ?? sound;
    stress = sound;
  }
  return text.replace(/ŋ(?![ɡk])/g, "ŋɡ");
}

/** Returns the spelled vowels of a word if they are as many as its phonemes have. */
function vowelsOf(word: string, count: number): readonly string[] {
  const spelled = word.match(/[aeiou]+w?|y(?![aeiou])/g) ?? [];
  const isSilent = spelled.length === count + 1 && /[^aeiou]es?$/.test(word);
  return isSilent || spelled.length === count ? spelled : [];
}
