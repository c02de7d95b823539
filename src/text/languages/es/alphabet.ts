import { wordMap } from "../../characters.ts";
import type { Alphabet } from "../../phonemes/accent.ts";

/** The symbols of misaki's `EspeakG2P("es")`, which Kokoro's Spanish voices were trained with. */
export const SPANISH_ALPHABET: Alphabet = {
  symbols: new Set("AIWabdefijklmnoprstuwxβɣðθɛɡŋɪɲɾʃʊʎʝʤʧːˈˌ "),
  spellings: [
    ...wordMap(
      "t\u0361ʃ ʧ,d\u0361ʒ ʤ,ɟ\u0361ʝ ʝ,tʃ ʧ,dʒ ʤ,ɟʝ ʝ,a\u026a I,aɪ I,eɪ A,aʊ W,ai\u032f I,ei\u032f A,au\u032f W,g ɡ,v b,z s,h x,χ x," +
        "ɹ ɾ,ʒ ʝ,ɟ ʝ,ɱ m,ɔ o,ɑ a,æ a,' ˈ",
    ),
    [".", ""],
  ],
};
