/** Phonemes as somebody wrote them: in the voice's alphabet, or the place of the first character that is none. */
export type GivenPhonemes = { readonly phonemes: string } | { readonly at: number; readonly why: string };

/** The voice's own alphabet (see `stress.ts`), with what it says of a flapped t. */
const OWN: ReadonlySet<string> = new Set("AIOWYTbdfhijklmnpstuvwzæðŋɐɑɔəɛɜɡɪɹʃʊʌʒʤʧθᵊᵻˈˌ ");
/** The International Phonetic Alphabet's other ways to write the same; the longest first. */
const SAME: readonly (readonly [written: string, own: string])[] = [
  ["t͡ʃ", "ʧ"],
  ["d͡ʒ", "ʤ"],
  ["tʃ", "ʧ"],
  ["dʒ", "ʤ"],
  ["eɪ", "A"],
  ["aɪ", "I"],
  ["oʊ", "O"],
  ["əʊ", "O"],
  ["aʊ", "W"],
  ["ɔɪ", "Y"],
  ["ɚ", "əɹ"],
  ["ɝ", "ɜɹ"],
  ["ɾ", "T"],
  ["ʔ", "t"],
  ["Q", "O"],
  ["r", "ɹ"],
  ["g", "ɡ"],
  ["e", "ɛ"],
  ["a", "ɑ"],
  ["ɒ", "ɑ"],
  ["o", "O"],
  ["ɨ", "ᵻ"],
  ["ɫ", "l"],
  ["x", "k"],
  ["ː", ""],
  [".", ""],
];
const SOUND = /[^ˈˌ ]/;
/** What no address has: a stress mark, or a letter that only phonetic writing has. */
const PHONETIC = /[ˈˌːæðŋɐɑɔəɛɜɡɪɹʃʊʌʒʤʧθᵊᵻɚɝɒɾʔɨɫ]/;

/** Whether a text between slashes is meant as phonemes, and not as an address: "/fˈu/", not "/about/". */
export function isPhonetic(text: string): boolean {
  return PHONETIC.test(text);
}

/** Reads phonemes in the voice's alphabet or the usual one for American English. Places count characters from 0. */
export function readGivenPhonemes(written: string): GivenPhonemes {
  let phonemes = "";
  let place = 0;
  for (let at = 0; at < written.length; ) {
    const character = String.fromCodePoint(written.codePointAt(at) ?? 0);
    const same = SAME.find(([ipa]) => written.startsWith(ipa, at));
    if (same !== undefined) phonemes += same[1];
    else if (OWN.has(character)) phonemes += character;
    else return { at: place, why: "is no phoneme that this voice has" };
    const taken = same?.[0] ?? character;
    at += taken.length;
    place += Array.from(taken).length;
  }
  if (!SOUND.test(phonemes)) return { at: 0, why: "begins no sound" };
  return { phonemes: phonemes.trim() };
}
