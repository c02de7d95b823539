import { digitValue, isAscii, wordMap } from "../characters.ts";
import type { Endings } from "./accent.ts";
import { createWords, type Dictionaries, type Following } from "./dictionary.ts";
import { MONEY, NumberReader } from "./number-reading.ts";
import { createSuffixRules, createWordReading } from "./word-reading.ts";

export interface LexicalWord {
  readonly text: string;
  readonly tag: string;
  readonly currency: string | null;
  /** Whether no other word is joined before it. */
  readonly head: boolean;
  readonly reading: string | null;
}

export interface PronunciationLexicon {
  /** Phonemes of a word in its context; `null` if unknown. */
  read(word: LexicalWord, following: Following): string | null;
  /** Phonemes of digits within an unknown word. */
  readDigits(text: string): string | null;
}

/** "résumé" is not "resume": a final é is always pronounced. */
const FINAL_E_ACUTE = /ée?s?$/i;
/** Letters that Unicode does not decompose. */
const PLAIN_LETTERS = wordMap("ß ss,æ ae,œ oe,ø o,ł l,đ d,ð d,þ th,ı i");

/** @param names take precedence over the dictionaries */
export function createLexicon(
  dictionaries: Dictionaries,
  names: ReadonlyMap<string, string>,
  endings: Endings,
): PronunciationLexicon {
  const words = createWords(dictionaries, names);
  const wordReading = createWordReading(words, createSuffixRules(words, endings));
  const numbers = new NumberReader(words, endings);

  return {
    read(word, following) {
      if (word.reading !== null) return word.reading;
      const text = plainText(word.text);
      const phonemes = readWord(text, word, following);
      if (phonemes !== null) return phonemes + currencyWord(word.currency);
      if (numbers.isNumber(text, word.head)) return numbers.read(text, word.currency, word.head);
      return null;
    },
    readDigits: (text) => numbers.read(text, null, false),
  };

  function readWord(text: string, { tag }: LexicalWord, following: Following): string | null {
    const stress = text === text.toLowerCase() ? null : text === text.toUpperCase() ? 2 : 0.5;
    const phonemes = wordReading(text, tag, stress, following);
    if (phonemes !== null || text.length < 2 || isAscii(text)) return phonemes;
    const plain = withoutAccents(text);
    const read = isAscii(plain) ? wordReading(plain, tag, stress, following) : null;
    return read !== null && FINAL_E_ACUTE.test(text) && !/Az?$/.test(read) ? null : read;
  }

  function currencyWord(currency: string | null): string {
    const unit = currency === null ? undefined : MONEY.get(currency)?.[0];
    if (unit === undefined) return "";
    return ` ${endings.s(words.look(unit, null, null, null) ?? "") ?? ""}`;
  }
}

/** Normalises apostrophes, compatibility forms (NFKC) and digits. */
function plainText(text: string): string {
  if (isAscii(text)) return text;
  let plain = "";
  for (const character of text.replaceAll("‘", "'").replaceAll("’", "'").normalize("NFKC")) {
    const value = digitValue(character);
    plain += value < 0 ? character : String(value);
  }
  return plain;
}

function withoutAccents(text: string): string {
  const stripped = text.normalize("NFD").replace(/\p{M}/gu, "");
  return stripped.replace(/[ßæœøłđðþıÆŒØŁĐÐÞ]/g, (letter) => {
    const lower = letter.toLowerCase();
    const plain = PLAIN_LETTERS.get(lower) ?? letter;
    return lower === letter ? plain : plain.charAt(0).toUpperCase() + plain.slice(1);
  });
}
