import { wordMap } from "../../characters.ts";
import type { Alphabet } from "../../phonemes/accent.ts";

/** The symbols of misaki's `EspeakG2P("it")`, which Kokoro's Italian voices were trained with. */
export const ITALIAN_ALPHABET: Alphabet = {
  symbols: new Set("abdefhijklmnoprstuvwzAISWŋɔɛɡɪɲɾʃʊʎʒʣʤʦʧːˈˌ "),
  spellings: [
    ...wordMap(
      "t\u0361ʃ ʧ,d\u0361ʒ ʤ,t\u0361s ʦ,d\u0361z ʣ,tʃ ʧ,dʒ ʤ,ts ʦ,dz ʣ,ss S,g ɡ,ɱ m,ɹ r,ʁ r,ɑ a,æ ɛ,ʌ a,ə e,ɐ a,θ t,ð d,' ˈ",
    ),
    [".", ""],
  ],
};
