/** The words of a text as they stand in it, with their marks: what has a letter or a digit, between spaces. */
export function wordsIn(text: string): string[] {
  return text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
}

/** A word in small letters, without the marks around it, its apostrophes straight. */
export function comparable(word: string): string {
  const [inside = ""] = /[\p{L}\p{N}](?:.*[\p{L}\p{N}])?/u.exec(word) ?? [];
  return inside.toLowerCase().replaceAll("’", "'");
}

/** How many words a text has, counted to `most` at most; in scripts without spaces each character is one. */
export function countWords(text: string, max: number): number {
  let count = 0;
  for (const [piece] of text.matchAll(/\S+/gu)) {
    const spaced = piece.replace(UNSPACED, () => {
      count += 1;
      return "";
    });
    if (/[\p{L}\p{N}]/u.test(spaced)) count += 1;
    if (count >= max) return max;
  }
  return count;
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;
