/** How an accent says the endings of a stem that it has the phonemes of; null for none. */
export interface Endings {
  /** Plural, possessive or third person. */
  s(phonemes: string): string | null;
  ed(phonemes: string): string | null;
  /** @param stem as it is written */
  ing(phonemes: string, stem: string): string | null;
  /** What a word in -ing of at least five letters may be made of; the first that is known counts. */
  ingStems(word: string): readonly string[];
}

export const AMERICAN_ENDINGS: Endings = {
  s: withS("ᵻ"),
  ed: withAmericanEd,
  ing: withAmericanIng,
  ingStems,
};
export const BRITISH_ENDINGS: Endings = {
  s: withS("ɪ"),
  ed: withBritishEd,
  ing: withBritishIng,
  ingStems,
};

const HISSING = "szʃʒʧʤ";
/** Sounds after which American t before a vowel is a flap (ɾ). */
const BEFORE_FLAP: ReadonlySet<string> = new Set("AIOWYiuæɑəɛɪɹʊʌ");
const DOUBLED_ING = /([bcdgklmnprstvxz])\1ing$|cking$/;

/** @param vowel of its own syllable */
function withS(vowel: string): Endings["s"] {
  return (phonemes) => {
    if (phonemes === "") return null;
    const last = phonemes.charAt(phonemes.length - 1);
    if ("ptkfθ".includes(last)) return `${phonemes}s`;
    return HISSING.includes(last) ? `${phonemes}${vowel}z` : `${phonemes}z`;
  };
}

function withAmericanEd(phonemes: string): string | null {
  const last = phonemes.charAt(phonemes.length - 1);
  if (last === "d") return `${phonemes}ᵻd`;
  if (last !== "t") return withConsonantD(phonemes);
  if (phonemes.length < 2) return `${phonemes}ɪd`;
  return flaps(phonemes) ? `${phonemes.slice(0, -1)}ɾᵻd` : `${phonemes}ᵻd`;
}

function withBritishEd(phonemes: string): string | null {
  return /[td]$/.test(phonemes) ? `${phonemes}ɪd` : withConsonantD(phonemes);
}

function withConsonantD(phonemes: string): string | null {
  if (phonemes === "") return null;
  return "pkfθʃsʧ".includes(phonemes.charAt(phonemes.length - 1)) ? `${phonemes}t` : `${phonemes}d`;
}

function withAmericanIng(phonemes: string): string | null {
  if (phonemes === "") return null;
  return flaps(phonemes) ? `${phonemes.slice(0, -1)}ɾɪŋ` : `${phonemes}ɪŋ`;
}

function ingStems(word: string): string[] {
  const stem = word.slice(0, -3);
  if (word.length === 5) return [`${stem}e`];
  return DOUBLED_ING.test(word) ? [stem, `${stem}e`, stem.slice(0, -1)] : [stem, `${stem}e`];
}

/** An r that is written is said before the vowel: "boring". */
function withBritishIng(phonemes: string, stem: string): string | null {
  if (phonemes === "") return null;
  return /[əː]$/.test(phonemes) && /re?$/.test(stem) ? `${phonemes}ɹɪŋ` : `${phonemes}ɪŋ`;
}

function flaps(phonemes: string): boolean {
  return (
    phonemes.length > 1 && phonemes.endsWith("t") && BEFORE_FLAP.has(phonemes.charAt(phonemes.length - 2))
  );
}

const VOWELS = "AIOQWYaiuæɑɒɔəɛɜɪʊʌɐᵊ";
/** In the rules: any vowel, with its stress mark if it has one. */
const A_VOWEL = `[ˈˌ]?[${VOWELS}]`;

/**
 * How a word in American phonemes is said in British English, change by change. They are what most of the words do that
 * both dictionaries of misaki have, and know nothing of spelling: for what no British dictionary has.
 */
const CHANGES: readonly (readonly [pattern: RegExp, said: string])[] = [
  // Symbols of the same sound, and t as it is written: "city", "button".
  change("ʔn", "tᵊn"),
  change("[ɾTʔ]", "t"),
  change("ᵻ", "ɪ"),
  change("O", "Q"),
  change("æ", "a"),
  // Stressed vowels are long: "see", "team" of "A-team"; but after the main stress none is marked.
  change("(?<=[ˈˌ])i(?!ː)", "iː"),
  change("(?<=ˈ[^ ]*)ˌ", ""),
  // "strenuous".
  change("əw(?=<V>)", "ʊ"),
  // Vowels before r, which is silent unless a vowel follows: "bird", "car", "north", "hero", "near", "tour", "hair", "fire".
  change("ɜɹ?(?!ː)", "ɜː"),
  change("([ɑɔ])ɹ", "$1ːɹ"),
  change("ɪɹ(?=i)", "ɪəɹ"),
  change("([ɪʊ])ɹ(?!<V>)", "$1əɹ"),
  change("ʊɹ", "ʊəɹ"),
  change("ɛɹ(?!<V>)", "ɛːɹ"),
  change("(?<=[ːə])ɹ(?!<V>)", ""),
  change("ɹ(?!<V>)", "ə"),
  // "axiom".
  change("i(?=ə)", "ɪ"),
  // "lot", "spa"; "cloth", "thought".
  change("ɑ(?!ː)(?![^ ])", "ɑː"),
  change("ɑ(?!ː)", "ɒ"),
  change("ɔ(?=[fθ]|s[^ ]|st|ŋ|ɡ)", "ɒ"),
  change("ɔ(?!ː)", "ɔː"),
  // "new", "tune"; long vowels are marked: "move".
  change("(?<![^ ])([tdn])(ˈ?)u(?!ː)", "$1j$2u"),
  change("(?<=[ˈˌ]u)(?!ː)|(?<=[^ˈˌ]u)(?![ː]|<V>)", "ː"),
  // "popular", "querulous".
  change("jə(?=[lɹ])", "jʊ"),
  // Syllables without a vowel: "nation", "often", "total", "useful", "basically".
  change("(?<=[ʃʒʤʧ])ən|(?<=[stzdv])ən(?=[tsdz]?(?![^ ]))", "ᵊn"),
  change("əl(?!<V>)", "ᵊl"),
  change("fᵊl", "fʊl"),
  change("kᵊli", "kli"),
];

/** Phonemes of American English, words between spaces, as a British voice says them. Marks are left alone. */
export function asBritish(phonemes: string): string {
  let said = phonemes;
  for (const [pattern, replacement] of CHANGES) said = said.replace(pattern, replacement);
  return said;
}

function change(pattern: string, said: string): readonly [RegExp, string] {
  return [new RegExp(pattern.replaceAll("<V>", A_VOWEL), "gu"), said];
}

/** An accent by its language tag (BCP 47). */
export type AccentTag = (typeof ACCENT_TAGS)[number];

/** What a text can be read in. */
export const ACCENT_TAGS = ["en-US", "en-GB"] as const;

/** What an accent does to words beside the dictionary that it has. */
export interface Accent {
  readonly endings: Endings;
  /** Ways to write phonemes that it has a symbol of its own for, where American English has that of another sound. */
  readonly symbols: readonly (readonly [written: string, own: string])[];
  /** American phonemes, words between spaces, as this accent has them. Marks are left alone. */
  said(phonemes: string): string;
}

export const AMERICAN: Accent = { endings: AMERICAN_ENDINGS, symbols: [], said: (phonemes) => phonemes };

export const BRITISH: Accent = {
  endings: BRITISH_ENDINGS,
  symbols: [
    ["əʊ", "Q"],
    ["Q", "Q"],
    ["a", "a"],
    ["ɒ", "ɒ"],
    ["ː", "ː"],
  ],
  said: asBritish,
};
