import { FRAME_S } from "../../../audio/format.ts";
import { withoutPhonemes } from "../../../text/phonemes/inline-phonemes.ts";

/** Nobody speaks slower, or faster, in letters a second. */
const MIN_LETTERS_PER_S = 5;
const MAX_LETTERS_PER_S = 25;
/** Silence around the words of a recording. */
const AROUND_S = 1;
/** What a text may take beside its letters: a slow beginning, pauses. */
const BESIDES_S = 4;

const DIGIT = /\p{N}/u;
const SIGN = /\p{S}/u;
const WORD_OF_ITS_OWN = /\p{Script=Han}/u;
const SYLLABLE = /[\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Ethiopic}]/u;

/**
 * How long a text is to say, in letters of an alphabet: what stands for a word or a syllable counts for several, and so do
 * digits and signs, which are read as words.
 */
export function lettersIn(text: string): number {
  let letters = 0;
  for (const character of text.normalize("NFC")) letters += lettersOf(character);
  return letters;
}

function lettersOf(character: string): number {
  if (DIGIT.test(character)) return 5;
  if (SIGN.test(character)) return 4;
  if (WORD_OF_ITS_OWN.test(character)) return 3;
  return SYLLABLE.test(character) ? 2 : 1;
}

/** Frames of 80 ms that a text takes at the very most, however slowly it is spoken. */
export function maxFramesFor(text: string): number {
  return Math.ceil((BESIDES_S + lettersIn(text) / MIN_LETTERS_PER_S) / FRAME_S);
}

/** Whether words may be those of a recording: neither too few for it nor too many. */
export function mayCover(text: string, durationS: number): boolean {
  const letters = lettersIn(text.trim());
  return letters / MAX_LETTERS_PER_S <= durationS && durationS <= AROUND_S + letters / MIN_LETTERS_PER_S;
}

/** A text as a model reads it: on one line, and of `[word](/phonemes/)` the word alone. */
export function plainWords(text: string): string {
  return withoutPhonemes(text).replaceAll(/\s+/gu, " ").trim();
}
