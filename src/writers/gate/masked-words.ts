/**
 * Figures and signs that stand for letters in words, as those: "k1ll", "my$elf". Only where the word has letters around
 * them and wants such a letter there: a vowel between consonants, a consonant beside a vowel. Where a text has one such
 * word, looser ones are read so too ("t0"). Codes, measures, names of files and addresses stay.
 */
export function unmasked(text: string): string {
  if (!/[a-z][0134579@$!]/i.test(text)) return text;
  const isCapitals = !/\p{Ll}/u.test(text);
  const isWritten = (word: string) => isCapitals || /[a-z]/.test(word);
  let isHiding = false;
  const read = text.replaceAll(WORD, (word) => {
    if (!isMasked(word) || !isWritten(word)) return word;
    isHiding = true;
    return lettersOf(word);
  });
  if (!isHiding) return text;
  return read.replaceAll(WORD, (word) => (LOOSE.test(word) && isWritten(word) ? lettersOf(word) : word));
}

function isMasked(word: string): boolean {
  if (!INSIDE.test(word) || word.replaceAll(/[^a-z]/gi, "").length < 3) return false;
  return VOWEL_MISSING.test(word) || CONSONANT_MISSING.test(word) || BANG.test(word);
}

function lettersOf(word: string): string {
  const isCapital = !/[a-z]/.test(word);
  return word.replaceAll(/[013457@$!]/g, (sign, place: number) => {
    const isL =
      sign === "1" && /[aeoi]/i.test(word[place - 1] ?? "") && CONSONANT.test(word[place + 1] ?? "");
    const letter = isL ? "l" : (LETTERS[sign] ?? sign);
    return isCapital ? letter.toUpperCase() : letter;
  });
}

const LETTERS: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "!": "i",
};

/** Nothing of an address, a path, a version or a longer number; a mark at the end is the sentence's. */
const WORD =
  /(?<![\p{L}\p{N}\p{M}@$!_/\\=#&%+]|[\p{L}\p{N}][.:])\$?[a-z\d](?:[a-z\d@$!]*[a-z\d@$])?(?![\p{L}\p{N}\p{M}_/\\=@$]|!+[\p{L}\p{N}\p{M}]|[.:][\p{L}\p{N}])/giu;
/** One sign at a time, or the same one twice; letters to both sides, and more than an ending behind. */
const INSIDE = /^[a-z]+(?:(?:([013457@$!])\1?)[a-z]+)*(?:([013457@$!])\2?)(?:[a-z]{2,}|[lnrt])$/i;
const CONSONANT = /[b-df-hj-np-tv-z]/i;
const VOWEL_MISSING = /[b-df-hj-np-tv-z]([0134@])\1?[b-df-hj-np-tv-z]/i;
const CONSONANT_MISSING = /[aeiouy][57]|[57][aeiouy]|[a-z]\$[a-z]/i;
/** Else it ends a sentence: "Stop!don't". */
const BANG = /(?:^|[^a-z])[b-df-hj-np-tv-z]{1,2}!{1,2}[b-df-hj-np-tv-z]/i;
/** Where a text hides words: also at an end, but for "5pm" and "1st". */
const LOOSE = /^(?:[a-z]+(?:([013457@$!])\1?[a-z]*)+|[$013457][a-z]{3,}(?:[013457@$!][a-z]*)*)$/i;
