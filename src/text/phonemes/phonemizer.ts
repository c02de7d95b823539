import { LruCache } from "../../audio/lru-cache.ts";
import { strip } from "../characters.ts";
import { createNormaliser } from "../normalise/normaliser.ts";
import { RewrittenText } from "../rewritten-text.ts";
import { spokenSentences } from "../sentences/sentences.ts";
import type { TextTables } from "../tables/text-tables.ts";
import { createAnalysis, spanOf } from "../tagging/analysis.ts";
import { createHeteronyms } from "../tagging/heteronyms.ts";
import { AMERICAN, BRITISH } from "./accent.ts";
import { createBritishLexicon } from "./british-lexicon.ts";
import { type Following, isListed, packedWords, type WordEntries } from "./dictionary.ts";
import { markGivenWords } from "./given-words.ts";
import { createLexicon, type LexicalWord } from "./lexicon.ts";
import { readUnits } from "./read-units.ts";
import { PhonemeSources, splitClauses } from "./sentence-phonemes.ts";
import { withStress } from "./stress.ts";
import {
  characterIds,
  decodePhonemes,
  inKnownLetters,
  readUnknown,
  type UnknownWordNet,
} from "./unknown-words.ts";
import { createUserLexicon, type LexiconEntry, type UserLexicon } from "./user-lexicon.ts";

export interface Phonemizer {
  /**
   * Phonemes of a text, a string per sentence. Sentences over 400 phonemes are split at clauses; silent ones are
   * dropped.
   */
  phonemes(text: string): Promise<string[]>;
  /** Phonemes of one sentence, or "". The first lexicon with a word decides. */
  read(sentence: string, words?: readonly UserLexicon[]): Promise<string>;
  readWithSources(sentence: string, words?: readonly UserLexicon[]): Promise<PhonemizedSentence>;
  /** Returns the phonemes of a word that the dictionary lists; else `null`. */
  listedWord(word: string): string | null;
}

export interface PhonemizedSentence {
  readonly phonemes: string;
  readonly sources: PhonemeSources;
}

export interface PhonemizerOptions {
  /** Words that take precedence over the dictionaries, but not over those given with a text. */
  readonly words?: readonly LexiconEntry[];
  readonly rememberedWords?: number;
  readonly british?: WordEntries;
}

const NOTHING: Following = { sound: null, to: false };
/**
 * Invisible characters that would split words. A joiner between other characters than letters belongs to an emoji.
 */
export const INVISIBLE =
  /\u00ad(?:\r?\n[ \t]*)?|[\u200b\u200c\u200e\u200f\u2060\ufeff]|(?<=[a-z])\u200d(?=[a-z])/gi;

/**
 * Reads English text as phonemes. Unknown words go to `unknownWords` once, while cached. Reads any string, and throws
 * only what the network throws.
 */
export function createPhonemizer(
  tables: TextTables,
  unknownWords: UnknownWordNet,
  { words: ownWords = [], rememberedWords = 1000, british }: PhonemizerOptions = {},
): Phonemizer {
  const gold = packedWords(tables.gold);
  const silver = packedWords(tables.silver);
  const isCommon = (word: string): boolean => isListed(gold, word) || tables.names.has(word);
  const normalise = createNormaliser(
    tables.normaliser,
    (word) => isCommon(word) || isListed(silver, word),
    isCommon,
  );
  const analyse = createAnalysis(tables, createHeteronyms(tables.heteronyms, tables.gold.tagged));
  const accent = british === undefined ? AMERICAN : BRITISH;
  const { names } = tables;
  const american = createLexicon({ gold, silver }, names, AMERICAN.endings);
  const lexicon = british === undefined ? american : createBritishLexicon({ british, american, names });
  const always = ownWords.length > 0 ? [createUserLexicon(ownWords, accent)] : [];
  const remembered = new LruCache<string>(rememberedWords);

  return {
    read: async (sentence, words) => (await readWithSources(sentence, words)).phonemes,
    readWithSources,
    listedWord(word) {
      const said = lexicon.read(alone(word, "NN"), NOTHING);
      return said === null ? null : inAlphabet(said);
    },
    async phonemes(text) {
      const spoken: string[] = [];
      for (const sentence of spokenSentences(text))
        spoken.push(...splitClauses((await readWithSources(sentence.text)).phonemes));
      return spoken;
    },
  };

  /** A listed word is another's plural only if it is pronounced as one. */
  function isPlural(plural: string, of: string): boolean {
    const said = lexicon.read(alone(plural, "NNS"), NOTHING);
    return (
      said === null ||
      unstressed(said) === unstressed(accent.endings.s(lexicon.read(alone(of, "NN"), NOTHING) ?? ""))
    );
  }

  /** Reads the sentence, asks the network for the words that were missing, and reads again. */
  async function readWithSources(
    sentence: string,
    words: readonly UserLexicon[] = [],
  ): Promise<PhonemizedSentence> {
    const visible = RewrittenText.of(sentence).replace(INVISIBLE, "");
    const { text, given } = markGivenWords(visible, [...words, ...always], isPlural, accent);
    const { units, text: written } = analyse(normalise(text), given);
    const known = new Map<string, string>();
    const missing = new Set<string>();
    const readWord = (word: string): string => {
      const answer = known.get(word) ?? remembered.get(word);
      if (answer === undefined) missing.add(word);
      else known.set(word, answer);
      return answer ?? "";
    };
    for (;;) {
      missing.clear();
      const said = readUnits(units, lexicon, (text) => readUnknown(text, lexicon, readWord, accent));
      if (missing.size === 0) {
        const sources = new PhonemeSources(said, (index) => written.sourceOf(spanOf(units[index]!)));
        const phonemes = strip(inAlphabet(said.join("")));
        return { phonemes, sources };
      }
      for (const word of missing) known.set(word, await ask(word));
    }
  }

  async function ask(word: string): Promise<string> {
    const alphabet = tables.unknownWords;
    const ids = characterIds(inKnownLetters(word, alphabet), alphabet);
    const phonemes = ids.length === 0 ? "" : accent.said(decodePhonemes(await unknownWords(ids), alphabet));
    remembered.set(word, phonemes);
    return phonemes;
  }
}

function inAlphabet(phonemes: string): string {
  return phonemes.replaceAll("ɾ", "T").replaceAll("ʔ", "t");
}

function alone(text: string, tag: string): LexicalWord {
  return { text, tag, currency: null, head: true, reading: null };
}

function unstressed(phonemes: string | null): string {
  return withStress(phonemes ?? "", -2);
}
