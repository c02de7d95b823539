import { faultOf, type OwnWord } from "./own-words.ts";

const FORM = "write a word, a tab, and its /phonemes/ or other words on each line";
const XML = /^[\s\ufeff]{0,100}<(?:\?xml|lexicon)\b/;

/** More lines than any list of words for one purpose has. */
const MAX_LINES = 10_000;

/**
 * Reads a list of words and how they are said: a line a word, a tab between the word and its `/phonemes/` or other
 * words that are read in its place; lines that begin with # are comments. Throws an Error that names the file, the line
 * and what is wrong there.
 */
export function parsePronunciations(text: string, file: string): OwnWord[] {
  if (XML.test(text)) throw new Error(`${file} is a PLS (XML) lexicon, which is not read: ${FORM}`);
  const words: OwnWord[] = [];
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  if (lines.length > MAX_LINES)
    throw new Error(`${file} has more than ${MAX_LINES} lines: keep to the words that you need`);
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
    const where = `${file}, line ${index + 1}`;
    const [word = "", said, ...rest] = line.split("\t");
    if (said === undefined) throw new Error(`${where}, has no tab: ${FORM}`);
    if (rest.length > 0) throw new Error(`${where}, has more than one tab: ${FORM}`);
    const own = [word.trim(), said.trim()] as const;
    const fault = faultOf(own);
    if (fault !== null) throw new Error(`${where}: ${fault}`);
    words.push(own);
  }
  return words;
}
