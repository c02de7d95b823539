import type { Following, Words } from "./dictionary.ts";
import type { Stress } from "./stress.ts";

/** Reads a word that is not listed by its listed stem. */
type SuffixRule = (
  word: string,
  tag: string | null,
  stress: Stress,
  following: Following | null,
) => string | null;

export interface SuffixRules {
  readonly s: SuffixRule;
  readonly ed: SuffixRule;
  readonly ing: SuffixRule;
}

const HISSING = "szʃʒʧʤ";
/** Sounds after which American t before a vowel is a flap (ɾ). */
const BEFORE_FLAP: ReadonlySet<string> = new Set("AIOWYiuæɑəɛɪɹʊʌ");
const DOUBLED_ING = /([bcdgklmnprstvxz])\1ing$|cking$/;

export function createSuffixRules(words: Pick<Words, "known" | "look">): SuffixRules {
  const { known, look } = words;
  const ending =
    (stemOf: (word: string) => string | null, add: (phonemes: string) => string | null): SuffixRule =>
    (word, tag, stress, following) => {
      const stem = stemOf(word);
      const phonemes = stem === null ? null : look(stem, tag, stress, following);
      return phonemes === null ? null : add(phonemes);
    };
  return { s: ending(stemOfS, withS), ed: ending(stemOfEd, withEd), ing: ending(stemOfIng, withIng) };

  function stemOfS(word: string): string | null {
    if (word.length < 3 || !word.endsWith("s")) return null;
    if (!word.endsWith("ss") && known(word.slice(0, -1))) return word.slice(0, -1);
    const es = word.length > 4 && word.endsWith("es") && !word.endsWith("ies");
    if ((word.endsWith("'s") || es) && known(word.slice(0, -2))) return word.slice(0, -2);
    const y = `${word.slice(0, -3)}y`;
    return word.length > 4 && word.endsWith("ies") && known(y) ? y : null;
  }

  function stemOfEd(word: string): string | null {
    if (word.length < 4 || !word.endsWith("d")) return null;
    if (!word.endsWith("dd") && known(word.slice(0, -1))) return word.slice(0, -1);
    const ed = word.length > 4 && word.endsWith("ed") && !word.endsWith("eed");
    return ed && known(word.slice(0, -2)) ? word.slice(0, -2) : null;
  }

  function stemOfIng(word: string): string | null {
    if (word.length < 5 || !word.endsWith("ing")) return null;
    const stem = word.slice(0, -3);
    if (word.length > 5 && known(stem)) return stem;
    if (known(`${stem}e`)) return `${stem}e`;
    const doubled = word.length > 5 && DOUBLED_ING.test(word);
    return doubled && known(word.slice(0, -4)) ? word.slice(0, -4) : null;
  }
}

/** Plural, possessive or third person of a stem's phonemes; null for none. */
export function withS(phonemes: string): string | null {
  if (phonemes === "") return null;
  const last = phonemes.charAt(phonemes.length - 1);
  if ("ptkfθ".includes(last)) return `${phonemes}s`;
  return HISSING.includes(last) ? `${phonemes}ᵻz` : `${phonemes}z`;
}

export function withEd(phonemes: string): string | null {
  if (phonemes === "") return null;
  const last = phonemes.charAt(phonemes.length - 1);
  if ("pkfθʃsʧ".includes(last)) return `${phonemes}t`;
  if (last === "d") return `${phonemes}ᵻd`;
  if (last !== "t") return `${phonemes}d`;
  if (phonemes.length < 2) return `${phonemes}ɪd`;
  return flaps(phonemes) ? `${phonemes.slice(0, -1)}ɾᵻd` : `${phonemes}ᵻd`;
}

export function withIng(phonemes: string): string | null {
  if (phonemes === "") return null;
  return flaps(phonemes) ? `${phonemes.slice(0, -1)}ɾɪŋ` : `${phonemes}ɪŋ`;
}

function flaps(phonemes: string): boolean {
  return (
    phonemes.length > 1 && phonemes.endsWith("t") && BEFORE_FLAP.has(phonemes.charAt(phonemes.length - 2))
  );
}
