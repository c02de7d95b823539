import { type GivenPhonemes, isPhonetic, readGivenPhonemes } from "../phonemes/given-phonemes.ts";

/**
 * Phonemes as a `phoneme` gives them, in the notation of a text (`[word](/phonemes/)`): any sound of the International Phonetic
 * Alphabet as the nearest one of American English. Or what is wrong with them.
 */
export function nearestPhonemes(
  ipa: string,
): { readonly phonemes: string } | Exclude<GivenPhonemes, { phonemes: string }> {
  const known = readGivenPhonemes(ipa);
  const read = "phonemes" in known ? known : readGivenPhonemes(nearest(ipa));
  if ("why" in read) return "why" in known ? known : read;
  // A length mark changes nothing and tells phonemes from an address.
  return { phonemes: isPhonetic(read.phonemes) ? read.phonemes : `${read.phonemes}ː` };
}

function nearest(ipa: string): string {
  const plain = ipa
    .normalize("NFD")
    .replaceAll(/([szc])\u0327/g, (_, base: string) => (base === "c" ? "ç" : base))
    .replaceAll(/(?![\u0361\u035c\u0329])\p{M}/gu, "")
    .replaceAll(SILENT, "");
  return Array.from(plain, (sound) => NEAREST.get(sound) ?? sound).join("");
}

/** Half length, tones, ties, breaks, aspiration and the like: nothing that this voice's alphabet has. */
const SILENT = /[ˑ‿|‖↗↘˥˦˧˨˩ꜛꜜʰʷʲˠˤⁿˡ˞()/[\]-]/gu;

const NEAREST: ReadonlyMap<string, string> = new Map(
  Object.entries({
    y: "i",
    ʏ: "ɪ",
    ø: "ɛ",
    œ: "ɛ",
    ɶ: "æ",
    ɘ: "ə",
    ɵ: "ə",
    ɤ: "ʌ",
    ɯ: "u",
    ʉ: "u",
    ɞ: "ɜ",
    ä: "ɑ",
    c: "k",
    q: "k",
    ɟ: "ɡ",
    ɢ: "ɡ",
    ʈ: "t",
    ɖ: "d",
    ɱ: "m",
    ɳ: "n",
    ɲ: "nj",
    ɴ: "ŋ",
    ʙ: "b",
    ʀ: "ɹ",
    ʁ: "ɹ",
    ɽ: "ɹ",
    ɺ: "ɹ",
    ɻ: "ɹ",
    ɸ: "f",
    β: "v",
    ʋ: "v",
    ʂ: "ʃ",
    ʐ: "ʒ",
    ɕ: "ʃ",
    ʑ: "ʒ",
    ç: "h",
    ʝ: "j",
    χ: "h",
    ɣ: "ɡ",
    ħ: "h",
    ʕ: "",
    ɦ: "h",
    ɬ: "l",
    ɮ: "l",
    ɭ: "l",
    ʎ: "lj",
    ʟ: "l",
    ɰ: "w",
    ɥ: "w",
    ʍ: "w",
    ɧ: "ʃ",
    "’": "",
    "‘": "",
    ʼ: "",
    ":": "",
  }),
);
