import { wordMap } from "../../characters.ts";

/** A sound of a word, or what stands for a given word's phonemes. */
export interface Sound {
  symbol: string;
  isVowel?: boolean;
  stress?: "ˈ" | "ˌ" | "";
  /** The letter has an accent. */
  isAccented?: boolean;
  /** i or u without an accent, which form diphthongs. */
  isWeak?: boolean;
  /** A weak vowel that no stress falls on, since it is a glide in other words. */
  isHeavy?: boolean;
  isAfterH?: boolean;
  /** Written y: "muy" is uj, "fui" wi. */
  isY?: boolean;
  /** The e of "-mente", which stays closed. */
  isClosed?: boolean;
}

const BARE = wordMap("á a,é e,í i,ó o,ú u,ü u");
const VOWELS = "aeiouáéíóúü";
/** Spellings by their first letter; the first that fits decides. Other letters are their own sounds. */
const SPELLINGS = new Map<string, [spelling: RegExp, symbols: string][]>();
for (const [spelling, symbols] of wordMap(
  "ch ʧ,c(?=[eiéí]) θ,ck? k,ç s,gu(?=[eiéí])|g(?![eiéí]) ɡ,g x,j x,ll(?=.) ʎ,ll? l,ñ ɲ,ph f,p(?=t) pː,qu(?=[eiéí])|q k," +
    "rr|r(?<![^nls]r) r,r ɾ,sh(?<!^desh) ʃ,v b,x ks,y(?=[aeiouáéíóúü]) ʝ,z θ",
)) {
  const first = spelling.charAt(0);
  SPELLINGS.set(first, [...(SPELLINGS.get(first) ?? []), [new RegExp(spelling, "y"), symbols]]);
}
/** Letters that are no Spanish letter with another accent. */
const FOREIGN = wordMap(
  "ß s,æ e,œ e,ø o,ł l,đ d,þ z,ð d,ı i,α alfa,β beta,γ gama,δ delta,λ lambda,μ mi,π pi,σ sigma,ω omega",
);
const NOT_SPANISH = /[^a-zñáéíóúüç]/g;

/** Replaces Latin letters that Spanish lacks by near ones, and removes letters of other scripts. */
export function inSpanishLetters(word: string): string {
  const lower = word.toLowerCase().normalize("NFC");
  return lower.replace(
    NOT_SPANISH,
    (letter) => FOREIGN.get(letter) ?? letter.normalize("NFKD").replace(/[^a-z]/g, ""),
  );
}

/** Returns the sounds of a lower-case word, with glides and diphthongs. */
export function soundsOf(word: string): Sound[] {
  const letters = word
    .replace(/^p(?=[st][aeiouáéíóú])|^[gmp](?=n)/, "")
    .replace(/^x/, "s")
    .replace(/([bdfghjkmpqstvwxz])\1+/g, "$1");
  const sounds: Sound[] = [];
  let isAfterH = false;
  for (let at = 0; at < letters.length; ) {
    const letter = letters.charAt(at);
    const [spelling, symbols] = spellingAt(letters, at) ?? [letter, letter];
    at += spelling.length;
    if (letter === "h") {
      isAfterH = true;
      continue;
    }
    if (VOWELS.includes(letter)) sounds.push(vowel(letter, isAfterH));
    else if (letter === "y" && symbols === "y") sounds.push({ ...vowel("i", false), isY: true });
    else for (const symbol of symbols) sounds.push({ symbol });
    isAfterH = false;
  }
  return withGlides(sounds);
}

function spellingAt(letters: string, at: number): readonly [string, string] | undefined {
  for (const [pattern, symbols] of SPELLINGS.get(letters.charAt(at)) ?? []) {
    pattern.lastIndex = at;
    if (pattern.test(letters)) return [letters.slice(at, pattern.lastIndex), symbols];
  }
  return undefined;
}

function vowel(letter: string, isAfterH: boolean): Sound {
  const symbol = BARE.get(letter) ?? letter;
  const isAccented = "áéíóú".includes(letter);
  return { symbol, isVowel: true, isAccented, isWeak: "iuü".includes(letter), isAfterH };
}

const DIPHTHONGS = wordMap("ai I,ei A,au W,oi oɪ,eu eʊ,ou ow,ui uj,iu iw");

/** Weak vowels beside others are no syllables: "bueno" bw, "baile" I, "ley" A. */
function withGlides(sounds: readonly Sound[]): Sound[] {
  const out: Sound[] = [];
  for (const [at, sound] of sounds.entries()) {
    const last = out.at(-1);
    const next = sounds[at + 1];
    const isBeforeVowel = next?.isVowel === true && !next.isAfterH && next.symbol !== sound.symbol;
    const isOpen =
      last?.isVowel === true && !last.isHeavy && !last.isAccented && last.symbol !== sound.symbol;
    const isAfterVowel = isOpen && !sound.isAfterH;
    if (!sound.isWeak) out.push(sound);
    else if (isBeforeVowel && isAfterVowel) out.push({ symbol: sound.symbol === "i" ? "ʝ" : "w" });
    else if (isBeforeVowel && !next.isY && isHeavy(out, sound)) out.push({ ...sound, isHeavy: true });
    else if (isBeforeVowel && !next.isY) out.push({ symbol: sound.symbol === "u" ? "w" : "j" });
    else if (isAfterVowel && !next?.isVowel && last.symbol.length === 1) join(out, last, sound);
    else out.push(sound);
  }
  return out;
}

/** After r, an initial l, a group with l and, for u, any l, the vowel is no glide: "cliente", "patria", "luego". */
function isHeavy(out: readonly Sound[], { symbol }: Sound): boolean {
  const [before, last] = [out.at(-2), out.at(-1)];
  if (last === undefined || last.isVowel) return false;
  if (symbol === "u") return "rɾlʎ".includes(last.symbol);
  return last.symbol === "r" || ("ɾl".includes(last.symbol) && !before?.isVowel);
}

function join(out: Sound[], last: Sound, sound: Sound): void {
  const [symbol = "", glide] = DIPHTHONGS.get(last.symbol + sound.symbol) ?? "";
  if (symbol === "") out.push(sound);
  else {
    last.symbol = symbol;
    if (glide !== undefined) out.push({ symbol: glide });
  }
}
