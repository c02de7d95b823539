import type { Alphabet } from "../phonemes/accent.ts";
import { PhonemeSources } from "../phonemes/sentence-phonemes.ts";
import type { RewrittenText, TextRange } from "../rewritten-text.ts";

export type { Alphabet };

/** BCP 47 tag of what a voice speaks: a language, or an accent of English. */
export type LanguageTag = "en-US" | "en-GB" | "es" | "it";

/**
 * How a language is read: text → sentences → words and marks (`normalise`) → phonemes (`units`). A reader is a plain
 * value without state: the same text gives the same phonemes, in time linear in its length, and no string makes it throw.
 */
export interface Language {
  readonly tag: LanguageTag;
  readonly sentences: SentenceRules;
  readonly alphabet: Alphabet;
  /** Writes numbers, dates, money, units, abbreviations, addresses and signs in words; marks stay. */
  normalise(sentence: RewrittenText): RewrittenText;
  /**
   * Reads a normalised sentence. The units follow the text's order without overlapping, and their phonemes, joined, are
   * those of the sentence, with spaces between words.
   */
  units(sentence: string, words: WordSources): readonly PhonemeUnit[];
  /** Classifies a sentence that ends with a question mark. */
  question(sentence: string): Question;
  /** Returns the index of the "or" between the last two alternatives among lower-case words without marks, or -1. */
  choiceAt(words: readonly string[]): number;
}

/** `open` questions (who, what, why …) fall, `yes-no` rises, `choice` ("tea or coffee?") rises, then falls. */
export type Question = "yes-no" | "open" | "choice";

export interface SentenceRules {
  /**
   * Returns whether the sentence goes on after a full stop, as after an abbreviation. A lower-case letter always
   * continues a sentence.
   *
   * @param mark index of the full stop
   * @param next index of the next character that is no space
   */
  continues(paragraph: string, mark: number, next: number): boolean;
}

/** Pronunciations that a language's own rules cannot know. Phonemes are in the alphabets of their own languages. */
export interface WordSources {
  /** Returns the American phonemes of an English word that the dictionary lists, for loan words; else `null`. */
  english(word: string): string | null;
  /** Returns the phonemes given for a word that a private-use character stands for (`given-words.ts`); else `null`. */
  given(character: string): string | null;
}

/** The phonemes of a word, mark or space, and its range in the normalised sentence, which is not empty. */
export interface PhonemeUnit extends TextRange {
  readonly phonemes: string;
}

/** Reads a sentence; the sources map its phonemes to the text that `sentence` was rewritten from. */
export function readSentence(
  language: Language,
  sentence: RewrittenText,
  words: WordSources,
): { readonly phonemes: string; readonly sources: PhonemeSources } {
  const written = language.normalise(sentence);
  const units = language.units(written.text, words);
  const said = units.map(({ phonemes }) => phonemes);
  return {
    phonemes: said.join("").trim(),
    sources: new PhonemeSources(said, (index) => written.sourceOf(units[index]!)),
  };
}
