import { sentencesOf } from "../../text/sentences/sentence-cutter.ts";
import { plainText } from "./gate-windows.ts";

/**
 * Returns whether a line, or a sentence of it, may be English, the only language the gate was trained on. Folds homoglyphs
 * first. A single plain word may be.
 *
 * @param known words of the gate's own lines
 */
export function mayBeEnglish(line: string, known: ReadonlySet<string>): boolean {
  const text = plainText(line);
  const words = wordsOf(text);
  if (new Set(words).size <= 1) return words.every(isPlain);
  return (
    isEnglish(words, known, 1) || sentencesOf(text).some((each) => isEnglish(wordsOf(each), known, MIN_KNOWN))
  );
}

function isEnglish(words: readonly string[], known: ReadonlySet<string>, minKnown: number): boolean {
  const distinct = [...new Set(words)];
  const found = distinct.filter((word) => known.has(word)).length;
  // Accents are evidence against English.
  const others = distinct.filter((word) => !isPlain(word)).length;
  return (found >= minKnown && found >= MIN_SHARE * (distinct.length + others)) || hasRun(words, known);
}

/** Returns whether some known words follow one another, whatever surrounds them. */
function hasRun(words: readonly string[], known: ReadonlySet<string>): boolean {
  let length = 0;
  return words.some((word) => {
    length = known.has(word) ? length + 1 : 0;
    return length === RUN;
  });
}

/** Returns the words in small letters; those with digits in them, such as "y0ur", are evidence of nothing. */
function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+(?:'\p{L}+)?/gu) ?? []).filter(
    (word) => !/\p{N}/u.test(word),
  );
}

function isPlain(word: string): boolean {
  return /^[a-z']+$/.test(word);
}

const MIN_SHARE = 1 / 3;
const MIN_KNOWN = 2;
const RUN = 4;
