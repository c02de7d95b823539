import { editDistance } from "../../core/nearest-name.ts";
import { BRITISH } from "./accent.ts";
import type { Following, WordEntries } from "./dictionary.ts";
import { createLexicon, type LexicalWord, type Lexicon } from "./lexicon.ts";

/** What British words are read by. */
interface BritishSources {
  readonly british: WordEntries;
  /** Reads what the British dictionary does not know. */
  readonly american: Lexicon;
  /** Words that come before the dictionaries, in American phonemes. */
  readonly names: ReadonlyMap<string, string>;
}

/** Doubled for the ending alone: "putting" is of "put". */
const DOUBLED_FOR_ING = /[aeiouy]([bdgmnprt])\1ing$/;

const NO_WORDS: WordEntries = { indexOf: () => -1, entryAt: () => "" };

/** Reads words as the British dictionary has them, or by its stems; other words as Americans say them, in British sounds. */
export function createBritishLexicon({ british, american, names }: BritishSources): Lexicon {
  const { said, endings } = BRITISH;
  const own = createLexicon(
    { gold: british, silver: NO_WORDS },
    new Map([...names].map(([word, phonemes]) => [word, said(phonemes)])),
    endings,
  );
  return {
    read(word, following) {
      if (word.reading !== null) return nearestReading(word.text.toLowerCase(), said(word.reading));
      const phonemes = readIng(word, following) ?? own.read(word, following);
      if (phonemes !== null) return phonemes;
      const foreign = american.read(word, following);
      return foreign === null ? null : said(foreign);
    },
    readDigits: own.readDigits,
  };

  /**
   * The British dictionary lists few words in -ing, and letters do not tell their stems: "ranging" is of "range", "hanging" of
   * "hang". Of several stems that is meant whose reading is nearest to the American one, which is mostly listed.
   */
  function readIng(word: LexicalWord, following: Following): string | null {
    const written = word.text.toLowerCase();
    if (written.length < 5 || !written.endsWith("ing") || british.indexOf(written) >= 0) return null;
    const known = endings.ingStems(written).filter((stem) => british.indexOf(stem) >= 0);
    const meant = known.length < 2 ? null : american.read(word, following);
    if (meant === null) return null;
    const stems = DOUBLED_FOR_ING.test(written) ? known.slice(-1) : known;
    const readings = stems.flatMap((stem) => {
      const phonemes = own.read({ ...word, text: stem }, following);
      return phonemes === null ? [] : (endings.ing(phonemes, stem) ?? []);
    });
    return nearestOf(readings, said(meant));
  }

  /** Of a word that the dictionary reads in several ways, the way that is meant. */
  function nearestReading(word: string, meant: string): string {
    const index = british.indexOf(word);
    const entry = index < 0 ? "" : british.entryAt(index);
    if (typeof entry === "string") return meant;
    const readings = [...new Set(entry.values())].filter((reading) => reading !== null);
    if (readings.length < 2) return meant;
    return nearestOf(readings, meant) ?? meant;
  }
}

function nearestOf(readings: readonly string[], meant: string): string | null {
  let nearest: string | null = null;
  for (const reading of readings)
    if (nearest === null || editDistance(reading, meant) < editDistance(nearest, meant)) nearest = reading;
  return nearest;
}
