import { faultOf, type OwnWord } from "./own-words.ts";

/** More lines than any list of words for one purpose has. */
export const MAX_LINES = 10_000;

/**
 * Reads a list of words and how they are said: a line a word, a tab between the word and its `/phonemes/` or other
 * words that are read in its place; lines that begin with # are comments. Throws an Error that names the file, the line
 * and what is wrong there.
 */
export function parsePronunciations(text: string, file: string): OwnWord[] {
  const words: OwnWord[] = [];
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  if (lines.length > MAX_LINES) throw new Error(`${file} has more than ${MAX_LINES} lines`);
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const where = `${file}, line ${index + 1}`;
    const [word = "", said, ...rest] = line.split("\t");
    if (said === undefined || rest.length > 0) {
      throw new Error(`${where}: write the word, one tab, and its /phonemes/ or a respelling`);
    }
    const own = [word.trim(), said.trim()] as const;
    const fault = faultOf(own);
    if (fault !== null)
      throw new Error(`${where}: ${fault.of === "word" ? "the word" : "what is said"} ${fault.why}`);
    words.push(own);
  }
  return words;
}
