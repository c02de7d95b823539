import { wordMap } from "../characters.ts";
import { type Accent, type Alphabet, AMERICAN } from "./accent.ts";

/** Phonemes in the voice's alphabet, or what is wrong with what a user wrote. */
export type GivenPhonemes = { readonly phonemes: string } | PhonemeFault;

export interface PhonemeFault {
  /** Index in code points. */
  readonly at: number;
  readonly character: string;
  readonly why: string;
}

/** The voice's alphabet (see `stress.ts`), plus T for a flapped t. */
const OWN: ReadonlySet<string> = new Set("AIOWYTbdfhijklmnpstuvwzæðŋɐɑɔəɛɜɡɪɹʃʊʌʒʤʧθᵊᵻˈˌ ");
/** Other IPA spellings of the same sounds, longest first. */
const SAME: readonly (readonly [written: string, own: string])[] = [
  ...wordMap(
    "t\u0361ʃ ʧ,d\u0361ʒ ʤ,t\u035cʃ ʧ,d\u035cʒ ʤ,n\u0329 ᵊn,l\u0329 ᵊl,m\u0329 ᵊm,tʃ ʧ,dʒ ʤ,eɪ A,aɪ I,oʊ O,əʊ O,aʊ W,ɔɪ Y,ɚ əɹ,ɝ ɜɹ,ɾ T,ʔ t," +
      "Q O,r ɹ,g ɡ,e ɛ,a ɑ,ɒ ɑ,o O,ɨ ᵻ,ɫ l,x k,' ˈ",
  ),
  ["ː", ""],
  [".", ""],
];
const AMERICAN_ALPHABET: Alphabet = { symbols: OWN, spellings: SAME };
export const ACCEPTED: readonly string[] = [...OWN, ...SAME.map(([written]) => written)];
const MEANT: ReadonlyMap<string, string> = new Map([
  ...wordMap("c k or s,q k,y j for the sound of yes,ʍ w,’ ˈ,` ˈ,: ː or nothing,- a space or nothing"),
  [",", "ˌ"],
]);
const REMEDY = "write phonemes as docs/pronunciation.md lists them, as in /kˌubɚnˈɛtiz/";
const SOUND = /[^ˈˌ ]/;
const UNSEEN = /[\p{M}\p{C}\p{Z}]/u;
/** Characters that occur in phonemes and not in addresses. æ, ð and ŋ occur in spelling too. */
const PHONETIC = /[ˈˌːɐɑɔəɛɜɡɪɹʃʊʌʒʤʧθᵊᵻɚɝɒɾʔɨɫ]/;

export function isPhonetic(text: string): boolean {
  return PHONETIC.test(text);
}

/** Parses phonemes in the voice's alphabet, in IPA for American English, or in the alphabet of an accent or language. */
export function readGivenPhonemes(
  written: string,
  { symbols, said, alphabet = AMERICAN_ALPHABET }: Omit<Accent, "endings"> = AMERICAN,
): GivenPhonemes {
  let phonemes = "";
  let place = 0;
  for (let at = 0; at < written.length; ) {
    const character = String.fromCodePoint(written.codePointAt(at) ?? 0);
    const isHere = ([ipa]: readonly [string, string]) => written.startsWith(ipa, at);
    const same = symbols.find(isHere) ?? alphabet.spellings.find(isHere);
    if (same !== undefined) phonemes += same[1];
    else if (alphabet.symbols.has(character)) phonemes += character;
    else return { at: place, character, why: `is not a phoneme: ${remedyFor(character)}` };
    const taken = same?.[0] ?? character;
    at += taken.length;
    place += Array.from(taken).length;
  }
  if (!SOUND.test(phonemes)) {
    const [character = ""] = written;
    return { at: 0, character, why: `has no sound after it: ${REMEDY}` };
  }
  return { phonemes: said(phonemes.trim()) };
}

/**
 * Formats a fault for a message.
 *
 * @param before characters before the phonemes
 * @param of the part of the request, unless it is the text itself
 */
export function describeFault({ at, character, why }: PhonemeFault, before: number, of = ""): string {
  return `character ${before + at + 1}${of} (${shown(character)}) ${why}`;
}

function remedyFor(character: string): string {
  const meant = MEANT.get(character);
  return meant === undefined ? REMEDY : `write ${meant}`;
}

/** Quotes a character, or gives its code point if it is invisible. */
function shown(character: string): string {
  if (!UNSEEN.test(character)) return JSON.stringify(character);
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** `[word](/phonemes/)` in a text. Positions in UTF-16 units. */
export interface InlinePhonemes {
  readonly from: number;
  readonly to: number;
  readonly word: string;
  readonly written: string;
  readonly writtenFrom: number;
}

const MIDDLE = "](/";
const END = "/)";
const MAX_CHARS = 1000;

/** Finds inline phonemes, but not addresses (`[word](/about/)`), in linear time. */
export function inlinePhonemes(text: string): InlinePhonemes[] {
  const found: InlinePhonemes[] = [];
  let from = 0;
  for (let middle = text.indexOf(MIDDLE); middle >= 0; middle = text.indexOf(MIDDLE, middle + 1)) {
    const open = text.slice(Math.max(from, middle - MAX_CHARS), middle).lastIndexOf("[");
    const start = Math.max(from, middle - MAX_CHARS) + open;
    const writtenFrom = middle + MIDDLE.length;
    const end = text.slice(writtenFrom, writtenFrom + MAX_CHARS).indexOf(END);
    if (open < 0 || end < 0) continue;
    const word = text.slice(start + 1, middle);
    const written = text.slice(writtenFrom, writtenFrom + end);
    if (word.trim() === "" || word.includes("]") || /[/()]/.test(written) || !isPhonetic(written)) continue;
    from = writtenFrom + end + END.length;
    found.push({ from: start, to: from, word, written, writtenFrom });
  }
  return found;
}

/** Describes the first inline phonemes that cannot be parsed, or returns `null`. @param accentAt called with ascending places */
export function inlineFault(text: string, accentAt?: (place: number) => Accent | undefined): string | null {
  if (!text.includes(MIDDLE)) return null;
  for (const { written, writtenFrom } of inlinePhonemes(text)) {
    const read = readGivenPhonemes(written, accentAt?.(writtenFrom));
    if ("why" in read) return describeFault(read, Array.from(text.slice(0, writtenFrom)).length);
  }
  return null;
}

export function withoutPhonemes(text: string): string {
  let plain = "";
  let at = 0;
  for (const { from, to, word } of inlinePhonemes(text)) {
    plain += text.slice(at, from) + word;
    at = to;
  }
  return plain + text.slice(at);
}
