import { markedWord, markGivenWords } from "../phonemes/given-words.ts";
import { INVISIBLE, type Phonemizer } from "../phonemes/phonemizer.ts";
import { createUserLexicon, type LexiconEntry } from "../phonemes/user-lexicon.ts";
import { RewrittenText } from "../rewritten-text.ts";
import { type Language, readSentence, type WordSources } from "./language.ts";
import { accentOf } from "./languages.ts";

/**
 * Reads text in a language other than English, with user lexicons and inline phonemes.
 *
 * @param words precede the language's own readings, but not the words that are given with a text
 */
export function createLanguagePhonemizer(
  language: Language,
  english: WordSources["english"],
  words: readonly LexiconEntry[] = [],
): Pick<Phonemizer, "readWithSources"> {
  const accent = accentOf(language);
  const always = words.length > 0 ? [createUserLexicon(words, accent)] : [];
  return {
    async readWithSources(sentence, own = []) {
      const visible = RewrittenText.of(sentence).replace(INVISIBLE, "").replace(DECOMPOSED, composed);
      const { text, given } = markGivenWords(visible, [...own, ...always], NO_PLURALS, accent);
      return readSentence(language, text, {
        english,
        given: (character) => given[markedWord(character, given)]?.phonemes ?? null,
      });
    },
  };
}

const NO_PLURALS = () => false;
/** A letter with combining accents. */
const DECOMPOSED = /\p{L}\p{M}+/gu;
const composed = (letter: string) => letter.normalize("NFC");
