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

/** Reads one word by its letters: their ids in (1 to 24 of them), four output ids a letter out. */
export type UnknownWordNet = (characterIds: readonly number[]) => Promise<ArrayLike<number | bigint>>;

const PIECE = new RegExp(
  `[${WORD_LETTER}]+(?:['’][${WORD_LETTER}]+)*|\\p{Nd}+(?:[,.]\\p{Nd}+)*|[^${WORD}${SPACE}]+`,
  "gu",
);
const SIGN_PHONEMES = wordMap(
  "/ slˈæʃ,= ˈikwᵊlz,+ plˈʌs,& ænd,@ æt,% pəɹsˈɛnt,# hˈæʃ,* ˈæstəɹˌɪsk,~ tˈɪldə,^ kˈɛɹət,< lˈɛs ðən," +
    "> ɡɹˈATəɹ ðən,— —",
);

/**
 * Reads a text that the lexicon does not know piece by piece: words through `readWord`, digits, signs.
 */
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

/** A word in which a letter that the network does not know is the plain one without its accents, or in its usual form. */
export function inKnownLetters(word: string, { input }: UnknownWordAlphabet): string {
  return Array.from(word, (letter) => (input.has(letter) ? letter : letter.normalize("NFKD"))).join("");
}

/** A word as the network takes it; letters that it does not know are left out, and what is too long is cut. */
export function characterIds(word: string, alphabet: UnknownWordAlphabet): number[] {
  const ids: number[] = [];
  for (const character of word) {
    const id = alphabet.input.get(character);
    if (id !== undefined && ids.length < alphabet.maxChars) ids.push(id);
  }
  return ids;
}

/** The network's answer as phonemes: blanks (0) and repeats are dropped (connectionist temporal classification). */
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
