import { isSpaceCode } from "./characters.ts";

/**
 * The phonemes of a sentence with the mark that ends it, where its reading has lost it to an abbreviation ("5 p.m."):
 * without a mark the voice does not fall.
 */
export function withClosingStop(phonemes: string, sentence: string): string {
  if (phonemes === "") return "";
  const mark = lastBeforeClosing(sentence);
  const spoken = lastBeforeClosing(phonemes);
  return ".!?…".includes(mark) && !";:,.!?—…".includes(spoken) ? phonemes + mark : phonemes;
}

/** The last character that is neither a space nor a closing quote or bracket. */
function lastBeforeClosing(text: string): string {
  let end = text.length;
  while (end > 0 && (isSpaceCode(text.charCodeAt(end - 1)) || "\"”’')]".includes(text.charAt(end - 1))))
    end--;
  return text.charAt(Math.max(0, end - 1));
}
