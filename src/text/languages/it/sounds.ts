import { isLatinVowel, withoutAccents } from "./syllables.ts";

export interface SpelledSound {
  readonly symbol: string;
  /** Whether it makes a syllable. */
  readonly isNucleus: boolean;
  readonly isLong: boolean;
  readonly isStressed: boolean;
}

interface Read {
  readonly sounds: readonly SpelledSound[];
  /** Letters that were read. */
  readonly length: number;
}

/** z is voiced: "mezzo", "pranzo", "organizzare". */
const VOICED_Z =
  /^(?:mezz|azzur|zanzar|pranz|romanz|orizzon|bizzarr|gazzett|dozzin|rozz|azzard|bronz|donzell|garz|verz|ozon|lazzar)/;
const VOICED_Z_TOO =
  /^(?:ribrezz|brezz|gazz|olezz|razz[oi]$|azalea|benzin|ronz|gonz|scorz?on|protozo|az[oi]t)/;
const VOICED_IZZ = /^izz(?:a|o$|i$|er|ino$)/;
/** gl before i is spoken as written: "negligente". */
const HARD_GL = /^(?:gl(?!i$|ie)i|negli[gt]|anglic|geroglif|gangli)/;
const OPEN = new Map([
  ["è", "ɛ"],
  ["ò", "ɔ"],
]);
/** After these, i before a stressed vowel remains a vowel of its own: "stazione". */
const BEFORE_VOWEL_I = "rnlzʦʣ";
/** The s of "sei" and "sette" stays as it is in longer numbers: "ventisei". */
const NUMBER_IN_S = /^se(?:i|tt|ss)/;
const AFTER_NUMBER = /(?:nt[aio]|mila|cento)$/;
const VOICED = /[bdgvmnlr]/;

/** Reads a word whose stressed vowel is accented ("màcchina") as sounds, by the rules of spelling alone. */
export function soundsOf(accented: string): SpelledSound[] {
  const word = withoutAccents(accented);
  const sounds: SpelledSound[] = [];
  for (let at = 0; at < word.length; ) {
    const letter = word.charAt(at);
    const read = isLatinVowel(letter)
      ? readVowel(word, accented, at, sounds)
      : readConsonant(word, accented, at);
    sounds.push(...read.sounds);
    at += read.length;
  }
  return sounds;
}

function readVowel(word: string, accented: string, at: number, before: readonly SpelledSound[]): Read {
  const letter = word.charAt(at).replace("y", "i");
  const isStressed = accented.charAt(at) !== word.charAt(at);
  const glide = isStressed || !"iu".includes(letter) ? null : glideAt(word, accented, at, before);
  const symbol = glide ?? OPEN.get(accented.charAt(at)) ?? letter;
  return { sounds: [{ symbol, isNucleus: glide === null, isLong: false, isStressed }], length: 1 };
}

/** Returns the sound of an i or u that makes no syllable, or `null`. */
function glideAt(word: string, accented: string, at: number, before: readonly SpelledSound[]): string | null {
  const isI = word.charAt(at) !== "u";
  const last = before.at(-1);
  const next = word.charAt(at + 1);
  if (isLatinVowel(next) && next !== word.charAt(at)) {
    if (last === undefined || last.isNucleus) return isI ? (at + 2 === word.length && last ? "i" : "j") : "w";
    if (!isI) return /[qg]/.test(word.charAt(at - 1)) ? "w" : "ʊ";
    const isFinal = at + 2 === word.length && accented.charAt(at + 1) === next;
    const isFirst = !before.some((sound) => sound.isNucleus);
    if (isFinal) return next === "e" && !"rls".includes(last.symbol) ? "j" : "i";
    return isFirst || !BEFORE_VOWEL_I.includes(last.symbol) ? "j" : "i";
  }
  if (last?.isNucleus !== true || ("iu".includes(last.symbol) && !(isI && last.isStressed))) return null;
  if (!isI) return "aeɛ".includes(last.symbol) ? "ʊ" : null;
  return last.symbol === "a" && at + 1 === word.length ? "j" : "i";
}

function readConsonant(word: string, accented: string, at: number): Read {
  const letter = word.charAt(at);
  const isDouble = word.charAt(at + 1) === letter;
  const end = isDouble ? at + 2 : at + 1;
  const isSoft = "ei".includes(word.charAt(end) || "-");
  /** Returns where an i that only softens ends. */
  const afterSilent = (from: number): number =>
    accented.charAt(from) === "i" && isLatinVowel(word.charAt(from + 1)) ? from + 1 : from;
  const read = (symbol: string, to = end, isLong = isDouble): Read => ({
    sounds: symbol === "" ? [] : [{ symbol, isNucleus: false, isLong, isStressed: false }],
    length: to - at,
  });
  if (word.startsWith("gn", at)) return read("ɲ", at + 2);
  if (word.startsWith("gli", at) && !HARD_GL.test(word)) return read("ʎ", afterSilent(at + 2));
  if (word.startsWith("sc", at) && "ei".includes(word.charAt(at + 2) || "-"))
    return read("ʃ", afterSilent(at + 2));
  if (/^c[qk]/.test(word.slice(at, at + 2))) return read("k", at + 2, true);
  if (word.startsWith("sh", at)) return read("ʃ", at + 2);
  if (word.startsWith("ph", at)) return read("f", at + 2);
  switch (letter) {
    case "c":
    case "g":
      if (isSoft) return read(letter === "c" ? "ʧ" : "ʤ", afterSilent(end));
      return read(letter === "c" ? "k" : "ɡ");
    case "q":
      return read("k");
    case "s":
      return read(isDouble ? "S" : isVoicedS(word, at) ? "z" : "s", end, false);
    case "z":
      return read(isVoicedZ(word, at) ? "ʣ" : "ʦ");
    case "h":
      return read("");
    case "x":
      return read("ks", end, false);
    default:
      return read(letter);
  }
}

function isVoicedS(word: string, at: number): boolean {
  const next = word.charAt(at + 1);
  const isBetween = at > 0 && isLatinVowel(word.charAt(at - 1)) && isLatinVowel(next);
  if (isBetween && NUMBER_IN_S.test(word.slice(at, at + 4)) && AFTER_NUMBER.test(word.slice(0, at)))
    return false;
  return isBetween || VOICED.test(next);
}

function isVoicedZ(word: string, at: number): boolean {
  if (at === 0) return !/^zi[aoe]n?/.test(word) || word.startsWith("zip");
  return (
    VOICED_Z.test(word) || VOICED_Z_TOO.test(word) || (at > 4 && VOICED_IZZ.test(word.slice(at - 1, at + 7)))
  );
}

export type StressLevel = "main" | "half" | "none";

const STRESS_MARKS = { main: "ˈ", half: "ˌ", none: "" } as const;
const CLOSED = new Map([
  ["ɛ", "e"],
  ["ɔ", "o"],
]);

/** Writes sounds in the alphabet of Kokoro's Italian voices. */
export function phonemesOf(sounds: readonly SpelledSound[], level: StressLevel): string {
  let text = "";
  for (const [at, sound] of sounds.entries()) {
    const isLast = at === sounds.length - 1;
    const next = sounds[at + 1];
    if (sound.isNucleus) {
      const isMain = sound.isStressed && level === "main";
      if (sound.isStressed) text += STRESS_MARKS[level];
      text += isMain ? sound.symbol : relaxed(sound.symbol, isLast && at > 0, level !== "half");
    } else text += consonant(sound, sounds[at - 1], next);
  }
  return text;
}

/** Unstressed i at the end and unstressed u are lax. */
function relaxed(vowel: string, isFinal: boolean, isClosed: boolean): string {
  if (vowel === "i" && isFinal) return "ɪ";
  if (vowel === "u") return "ʊ";
  return isClosed ? (CLOSED.get(vowel) ?? vowel) : vowel;
}

function consonant(
  { symbol, isLong }: SpelledSound,
  before: SpelledSound | undefined,
  next: SpelledSound | undefined,
): string {
  if (symbol === "ɲ") return before?.isStressed === true ? "ɲɲ" : "ɲ";
  if (symbol === "r" && !isLong) return before?.symbol === "a" && next?.symbol === "a" ? "ɾ" : "r";
  if (!isLong) return symbol === "n" && next?.symbol === "ɡ" ? "ŋ" : symbol;
  if ("lmnfv".includes(symbol)) return symbol + symbol;
  return symbol === "r" ? "rɾ" : `${symbol}ː`;
}
