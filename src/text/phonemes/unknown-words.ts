import {
  digitValue,
  firstCharacter,
  isAllLetters,
  SPACE,
  WORD,
  WORD_LETTER,
  wordMap,
} from "../characters.ts";
import type { UnknownWordAlphabet } from "../tables/text-tables.ts";
import type { Accent } from "./accent.ts";
import type { PronunciationLexicon } from "./lexicon.ts";

/** Reads a word of 1 to 24 letter ids. Returns four output ids per letter. */
export type UnknownWordNet = (characterIds: readonly number[]) => Promise<ArrayLike<number | bigint>>;

const PIECE = new RegExp(
  `[${WORD_LETTER}]+(?:['’][${WORD_LETTER}]+)*|\\p{Nd}+(?:[,.]\\p{Nd}+)*|[^${WORD}${SPACE}]+`,
  "gu",
);
const SIGN_PHONEMES = wordMap(
  "/ slˈæʃ,= ˈikwᵊlz,+ plˈʌs,& ænd,@ æt,% pəɹsˈɛnt,# hˈæʃ,* ˈæstəɹˌɪsk,~ tˈɪldə,^ kˈɛɹət,< lˈɛs ðən," +
    "> ɡɹˈATəɹ ðən,— —",
);

/** Reads an unknown text piece by piece: words through `readWord`, digits, signs. */
export function readUnknown(
  text: string,
  lexicon: PronunciationLexicon,
  readWord: (word: string) => string,
  { said }: Pick<Accent, "said">,
): string {
  const spoken: string[] = [];
  for (const [piece] of text.matchAll(PIECE)) {
    const first = firstCharacter(piece);
    const phonemes =
      digitValue(first) >= 0
        ? (lexicon.readDigits(piece) ?? "")
        : isAllLetters(first)
          ? readWord(piece)
          : Array.from(piece, (sign) => said(SIGN_PHONEMES.get(sign) ?? ""))
              .filter(Boolean)
              .join(" ");
    if (phonemes !== "") spoken.push(phonemes);
  }
  return spoken.join(" ");
}

/** Replaces letters that the network does not know by their compatibility decomposition. */
export function inKnownLetters(word: string, { input }: UnknownWordAlphabet): string {
  return Array.from(word, (letter) => (input.has(letter) ? letter : letter.normalize("NFKD"))).join("");
}

/** Maps letters to the network's ids, dropping unknown ones and truncating long words. */
export function characterIds(word: string, alphabet: UnknownWordAlphabet): number[] {
  const ids: number[] = [];
  for (const character of word) {
    const id = alphabet.input.get(character);
    if (id !== undefined && ids.length < alphabet.maxChars) ids.push(id);
  }
  return ids;
}

/** Decodes the output by connectionist temporal classification: drops blanks (0) and repeats. */
export function decodePhonemes(outputIds: ArrayLike<number | bigint>, alphabet: UnknownWordAlphabet): string {
  let phonemes = "";
  let previous = 0;
  for (let i = 0; i < outputIds.length; i++) {
    const id = Number(outputIds[i]);
    if (id !== 0 && id !== previous) phonemes += alphabet.output[id - 1] ?? "";
    previous = id;
  }
  return phonemes;
}
