import { editDistance } from "../collections/nearest.ts";
import { BRITISH } from "./accent.ts";
import type { WordEntries } from "./dictionary.ts";
import type { DifferenceId } from "./differences.ts";
import { createLexicon, type Lexicon } from "./lexicon.ts";

/** What British words are read by. */
interface BritishSources {
  readonly british: WordEntries;
  /** Reads what the British dictionary does not know. */
  readonly american: Lexicon;
  readonly differences: ReadonlySet<DifferenceId>;
  /** Words that come before the dictionaries, in American phonemes. */
  readonly names: ReadonlyMap<string, string>;
}

const NO_WORDS: WordEntries = { indexOf: () => -1, entryAt: () => "" };

/** Reads words as the British dictionary has them, or by its stems; other words as Americans say them, in British sounds. */
export function createBritishLexicon({ british, american, differences, names }: BritishSources): Lexicon {
  const { said, endings } = BRITISH;
  const own = createLexicon(
    { gold: british, silver: NO_WORDS },
    differences,
    new Map([...names].map(([word, phonemes]) => [word, said(phonemes)])),
    endings,
  );
  return {
    read(word, following) {
      if (word.reading !== null) return nearestReading(word.text.toLowerCase(), said(word.reading));
      const phonemes = own.read(word, following);
      if (phonemes !== null) return phonemes;
      const foreign = american.read(word, following);
      return foreign === null ? null : said(foreign);
    },
    readDigits: own.readDigits,
  };

  /** Of a word that the dictionary reads in several ways, the way that is meant. */
  function nearestReading(word: string, meant: string): string {
    const index = british.indexOf(word);
    const entry = index < 0 ? "" : british.entryAt(index);
    if (typeof entry === "string") return meant;
    const readings = [...new Set(entry.values())].filter((reading) => reading !== null);
    if (readings.length < 2) return meant;
    return readings.reduce((a, b) => (editDistance(b, meant) < editDistance(a, meant) ? b : a));
  }
}
