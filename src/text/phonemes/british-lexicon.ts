import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { editDistance } from "../../core/nearest-name.ts";
import { BRITISH } from "./accent.ts";
import type { Entry, Following, WordEntries } from "./dictionary.ts";
import { createLexicon, type LexicalWord, type PronunciationLexicon } from "./lexicon.ts";

interface BritishSources {
  readonly british: WordEntries;
  readonly american: PronunciationLexicon;
  /** Words with American phonemes that take precedence over the dictionaries. */
  readonly names: ReadonlyMap<string, string>;
}

const DOUBLED_FOR_ING = /[aeiouy]([bdgmnprt])\1ing$/;

const NO_WORDS: WordEntries = { indexOf: () => -1, entryAt: () => "" };

/** Reads words from the British dictionary or by their stems there; converts the American reading of all others. */
export function createBritishLexicon({ british, american, names }: BritishSources): PronunciationLexicon {
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
   * Spelling does not tell the stem of a word in -ing: "ranging" is from "range", "hanging" from "hang". Of several
   * stems, takes the one whose reading is nearest to the American.
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

/** Made from misaki by `scripts/british-lexicon.mjs`. */
const FILE = fileURLToPath(new URL("../../../../lexicon/british.tsv.br", import.meta.url));
const MAX_BYTES = 4_000_000;
const [TAB, NEWLINE] = [0x09, 0x0a];

/** Loads the British dictionary (2 MB). @throws Error naming the file if it is missing or damaged */
export async function loadBritishWords(file = FILE): Promise<WordEntries> {
  const packed = await readFile(file).catch((cause: unknown) => {
    throw new Error(`${file} cannot be read: put it back from a fresh copy.`, { cause });
  });
  const options = { maxOutputLength: MAX_BYTES };
  return linesOf(
    await promisify(brotliDecompress)(packed, options).catch((cause: unknown) => {
      throw new Error(`${file} is damaged: put it back from a fresh copy.`, { cause });
    }),
  );
}

/**
 * Searches the sorted lines of a file in place. A word's index is the offset of its line.
 *
 * @param text `word TAB phonemes NEWLINE`, or `TAG=phonemes` separated by spaces
 */
function linesOf(text: Buffer): WordEntries {
  return {
    indexOf(word) {
      let [from, to] = [0, text.length];
      while (from < to) {
        const line = text.lastIndexOf(NEWLINE, ((from + to) >> 1) - 1) + 1;
        const start = Math.max(line, from);
        const order = compare(text, start, word);
        if (order === 0) return start;
        if (order < 0) from = text.indexOf(NEWLINE, start) + 1;
        else to = start;
      }
      return -1;
    },
    entryAt(index) {
      const said = text.toString("utf8", text.indexOf(TAB, index) + 1, text.indexOf(NEWLINE, index));
      return said.includes("=") ? byTag(said) : said;
    },
  };
}

/** Orders a line's word against another word, like a comparator. */
function compare(text: Buffer, start: number, word: string): number {
  for (let at = 0; at < word.length; at++) {
    const difference = text[start + at]! - word.charCodeAt(at);
    if (difference !== 0) return difference;
  }
  return text[start + word.length] === TAB ? 0 : 1;
}

function byTag(said: string): Entry {
  return new Map(
    said.split(" ").map((part) => {
      const [tag = "", phonemes = ""] = part.split("=");
      return [tag, phonemes === "" ? null : phonemes];
    }),
  );
}
