type Openness = "open" | "closed";

const VOWEL = /[aeiouy]/;
const GRAVE = "\u0300";
const ACUTE = "\u0301";

export function isLatinVowel(letter: string): boolean {
  return VOWEL.test(letter);
}

/** Removes grave and acute accents. */
export function withoutAccents(word: string): string {
  return word
    .normalize("NFD")
    .replace(/[\u0300\u0301]/g, "")
    .normalize("NFC");
}

/** Puts an accent on the letter at a position. Only e and o have both. */
export function withAccent(word: string, at: number, openness: Openness): string {
  const letter = word.charAt(at);
  const isAcute = openness === "closed" && "eo".includes(letter);
  const accented = (letter + (isAcute ? ACUTE : GRAVE)).normalize("NFC");
  return accented.length === 1 ? word.slice(0, at) + accented + word.slice(at + 1) : word;
}

/**
 * Returns the positions of the vowels that make syllables, if no vowel is accented: i and u before or after another vowel
 * make none, as in "piano", "Europa", "lingua"; the u of "buio" does.
 */
export function nucleiOf(word: string): number[] {
  const nuclei: number[] = [];
  for (let at = 0; at < word.length; at++) {
    if (!VOWEL.test(word.charAt(at))) continue;
    const isHigh = "iu".includes(word.charAt(at));
    const next = word.charAt(at + 1);
    const isBeforeGlide =
      next === "i" && VOWEL.test(word.charAt(at + 2)) && !/[gq]/.test(word.charAt(at - 1));
    const isBeforeVowel = next !== word.charAt(at) && VOWEL.test(next) && !isBeforeGlide;
    const isAfterNucleus = nuclei.at(-1) === at - 1;
    if (!(isHigh && (isBeforeVowel || isAfterNucleus))) nuclei.push(at);
  }
  return nuclei;
}

/** Returns whether a word is a consonant, a stressed i or u, and a vowel: "mio", "due", "via". */
export function isShortWord(word: string): boolean {
  return /^(?!(?:c|g|gl|sc|gn|q)[iu])[^aeiou]{0,3}[iu][aeo]$/.test(word);
}

/** Returns the usual quality of a stressed e or o without a known ending. */
export function openOrClosed(word: string, at: number, isAntepenultimate: boolean): Openness {
  const isDiphthong = at > 0 && "iu".includes(word.charAt(at - 1));
  return isAntepenultimate || isDiphthong || word.charAt(at) === "o" ? "open" : "closed";
}
