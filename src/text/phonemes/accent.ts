/** Adds endings to a stem in phonemes as an accent does; `null` if the stem cannot take them. */
export interface Endings {
  s(phonemes: string): string | null;
  ed(phonemes: string): string | null;
  /** @param stem as spelled */
  ing(phonemes: string, stem: string): string | null;
  /** Returns possible stems of a word in -ing (at least five letters), in order of preference. */
  ingStems(word: string): readonly string[];
}

export const AMERICAN_ENDINGS: Endings = {
  s: withS("ᵻ"),
  ed: withAmericanEd,
  ing(phonemes) {
    if (phonemes === "") return null;
    return flaps(phonemes) ? `${phonemes.slice(0, -1)}ɾɪŋ` : `${phonemes}ɪŋ`;
  },
  ingStems,
};
export const BRITISH_ENDINGS: Endings = {
  s: withS("ɪ"),
  ed: (phonemes) => (/[td]$/.test(phonemes) ? `${phonemes}ɪd` : withConsonantD(phonemes)),
  ing(phonemes, stem) {
    if (phonemes === "") return null;
    return /[əː]$/.test(phonemes) && /re?$/.test(stem) ? `${phonemes}ɹɪŋ` : `${phonemes}ɪŋ`;
  },
  ingStems,
};

const HISSING = "szʃʒʧʤ";
/** Sounds after which American t before a vowel becomes a flap (ɾ). */
const BEFORE_FLAP: ReadonlySet<string> = new Set("AIOWYiuæɑəɛɪɹʊʌ");
const DOUBLED_ING = /([bcdgklmnprstvxz])\1ing$|cking$/;

/** @param vowel of the extra syllable after a sibilant */
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

function withConsonantD(phonemes: string): string | null {
  if (phonemes === "") return null;
  return "pkfθʃsʧ".includes(phonemes.charAt(phonemes.length - 1)) ? `${phonemes}t` : `${phonemes}d`;
}

function ingStems(word: string): string[] {
  const stem = word.slice(0, -3);
  if (word.length === 5) return [`${stem}e`];
  return DOUBLED_ING.test(word) ? [stem, `${stem}e`, stem.slice(0, -1)] : [stem, `${stem}e`];
}

function flaps(phonemes: string): boolean {
  return (
    phonemes.length > 1 && phonemes.endsWith("t") && BEFORE_FLAP.has(phonemes.charAt(phonemes.length - 2))
  );
}

const VOWELS = "AIOQWYaiuæɑɒɔəɛɜɪʊʌɐᵊ";
const A_VOWEL = `[ˈˌ]?[${VOWELS}]`;

/**
 * Changes from American to British phonemes, in order, derived from the words that both dictionaries of misaki have.
 * Spelling is not considered.
 */
const CHANGES: readonly (readonly [pattern: RegExp, said: string])[] = [
  // Other symbols for the same sound, and t as spelled: "city", "button".
  change("ʔn", "tᵊn"),
  change("[ɾTʔ]", "t"),
  change("ᵻ", "ɪ"),
  change("O", "Q"),
  change("æ", "a"),
  // Stressed vowels are long ("see", "team"). After the main stress no secondary stress is marked.
  change("(?<=[ˈˌ])i(?!ː)", "iː"),
  change("(?<=ˈ[^ ]*)ˌ", ""),
  change("əw(?=<V>)", "ʊ"),
  // R is silent unless a vowel follows: "bird", "car", "north", "hero", "near", "tour", "hair", "fire".
  change("ɜɹ?(?!ː)", "ɜː"),
  change("([ɑɔ])ɹ", "$1ːɹ"),
  change("ɪɹ(?=i)", "ɪəɹ"),
  change("([ɪʊ])ɹ(?!<V>)", "$1əɹ"),
  change("ʊɹ", "ʊəɹ"),
  change("ɛɹ(?!<V>)", "ɛːɹ"),
  change("(?<=[ːə])ɹ(?!<V>)", ""),
  change("ɹ(?!<V>)", "ə"),
  change("i(?=ə)", "ɪ"),
  // "lot", "spa"; "cloth", "thought".
  change("ɑ(?!ː)(?![^ ])", "ɑː"),
  change("ɑ(?!ː)", "ɒ"),
  change("ɔ(?=[fθ]|s[^ ]|st|ŋ|ɡ)", "ɒ"),
  change("ɔ(?!ː)", "ɔː"),
  // "new", "tune", "move".
  change("(?<![^ ])([tdn])(ˈ?)u(?!ː)", "$1j$2u"),
  change("(?<=[ˈˌ]u)(?!ː)|(?<=[^ˈˌ]u)(?![ː]|<V>)", "ː"),
  change("jə(?=[lɹ])", "jʊ"),
  // Syllabic consonants: "nation", "often", "total", "useful", "basically".
  change("(?<=[ʃʒʤʧ])ən|(?<=[stzdv])ən(?=[tsdz]?(?![^ ]))", "ᵊn"),
  change("əl(?!<V>)", "ᵊl"),
  change("fᵊl", "fʊl"),
  change("kᵊli", "kli"),
];

/** Converts American phonemes to British ones. Words are separated by spaces; marks stay. */
export function asBritish(phonemes: string): string {
  let said = phonemes;
  for (const [pattern, replacement] of CHANGES) said = said.replace(pattern, replacement);
  return said;
}

function change(pattern: string, said: string): readonly [RegExp, string] {
  return [new RegExp(pattern.replaceAll("<V>", A_VOWEL), "gu"), said];
}

/** What users may write between the slashes of `/phonemes/`. */
export interface Alphabet {
  /** The symbols that the language's voices were trained with, one character each, stress marks and the space included. */
  readonly symbols: ReadonlySet<string>;
  /** Other IPA spellings of the same sounds, longest first. */
  readonly spellings: readonly (readonly [written: string, symbols: string])[];
}

export interface Accent {
  readonly endings: Endings;
  /** Spellings of phonemes with a symbol of the accent's own, which American English uses otherwise. */
  readonly symbols: readonly (readonly [written: string, own: string])[];
  /** Default: the American one. */
  readonly alphabet?: Alphabet;
  /** Converts American phonemes, with spaces between words; marks stay. */
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
