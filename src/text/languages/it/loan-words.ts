import { wordMap } from "../../characters.ts";

/** American sounds and the Italian ones that stand for them in loan words. */
const SOUNDS = wordMap(
  "ɑ a,æ ɛ,ʌ a,ɪ i,ʊ u,ə e,ɜ ɛ,ɐ a,ᵊ e,ᵻ i,A ei,I ai,W au,O o,Q o,Y ɔi,ɹ r,ð d,θ t,h ,ŋ ŋ,T t,ʔ t,ɾ t,ː ",
);
const LETTERS_ABROAD =
  /[kwxjy]|[st]h|ph|ck|oo|ee|ea[dklmnprt]|ou|ght|[^aeiou]{2}$|[^aeioulnrsàèéìòóù]$|[aeiou]e?r$|ing$|tion/;

/** Returns whether a word looks as no Italian word does: letters, clusters or a last consonant. */
export function looksEnglish(word: string): boolean {
  return word.length > 2 && LETTERS_ABROAD.test(word) && !/[àèéìòóù]|[aio]r$/.test(word);
}

/** Maps American phonemes to the alphabet of Italian voices. */
export function italianOf(phonemes: string): string {
  let text = "";
  for (const sound of phonemes) text += SOUNDS.get(sound) ?? sound;
  return text.replace(/ŋ(?![ɡk])/g, "ŋɡ");
}
