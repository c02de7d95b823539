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
