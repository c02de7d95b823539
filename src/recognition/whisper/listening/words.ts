import type { BytePairs } from "../../../onnx/byte-pairs.ts";

/** A word of the decoder's, and which of its tokens it is made of. */
export interface TokenWord {
  /** Trimmed; marks belong to the word that they stand at. */
  readonly text: string;
  readonly from: number;
  /** Behind its last one. */
  readonly to: number;
}

/** Written without spaces: each character counts as a word. */
export const WITHOUT_SPACES: ReadonlySet<string> = new Set(["zh", "ja", "th", "lo", "my", "yue"]);

const ONLY_MARKS = /^[\p{P}\p{S}\s]*$/u;
const OPENING = /^\s*[\p{Ps}\p{Pi}"'“‘«¿¡]+$/u;

/** Cuts tokens into words. All tokens are in one; none is empty, unless there are no words at all. */
export function wordsOf(ids: readonly number[], pairs: BytePairs, language: string): readonly TokenWord[] {
  const isSpaced = !WITHOUT_SPACES.has(language);
  const groups: TokenWord[] = [];
  for (const next of characters(ids, pairs)) {
    const last = groups.at(-1);
    const joins = last !== undefined && isSpaced && !/^\s/.test(next.text);
    if (joins) groups[groups.length - 1] = joined(last, next);
    else groups.push(next);
  }
  const words: TokenWord[] = [];
  let opening: TokenWord | null = null;
  for (const group of groups) {
    const whole: TokenWord = opening === null ? group : joined(opening, group);
    opening = null;
    if (!ONLY_MARKS.test(whole.text)) words.push(whole);
    else if (words.length === 0 || OPENING.test(whole.text)) opening = whole;
    else words[words.length - 1] = joined(words.at(-1)!, whole);
  }
  if (opening !== null && words.length > 0) words[words.length - 1] = joined(words.at(-1)!, opening);
  return words.map((word) => ({ ...word, text: word.text.trim() }));
}

function joined(first: TokenWord, second: TokenWord): TokenWord {
  return { text: first.text + second.text, from: first.from, to: second.to };
}

/** Runs of tokens that end with a whole character. */
function characters(ids: readonly number[], pairs: BytePairs): TokenWord[] {
  const found: TokenWord[] = [];
  let from = 0;
  for (let to = 1; to <= ids.length; to++) {
    const text = pairs.decode(ids.slice(from, to));
    // A character of four bytes at most: what is broken after as many tokens is so for good.
    if (text.endsWith("\uFFFD") && to - from < 4 && to < ids.length) continue;
    found.push({ text, from, to });
    from = to;
  }
  return found;
}
