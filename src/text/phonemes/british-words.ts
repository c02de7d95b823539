import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import type { Entry, WordEntries } from "./dictionary.ts";

/** misaki's British dictionary (see `scripts/british-lexicon.mjs`). */
const FILE = fileURLToPath(new URL("../../../../lexicon/british.tsv.br", import.meta.url));
const MAX_BYTES = 4_000_000;
const [TAB, NEWLINE] = [0x09, 0x0a];

/**
 * Loads the British dictionary, which takes 2 MB and some hundredths of a second. @throws Error naming the file when it is missing or
 * damaged
 */
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
 * A dictionary in the lines of a text, sorted by bytes, which are searched where they lie. A word's number is its line's place.
 *
 * @param text `word TAB phonemes NEWLINE`, or `TAG=phonemes` with spaces between
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

/** Whether the word of a line stands before a word (less than 0), is it (0), or stands behind it. */
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
