/** Kokoro's phoneme symbols: A I O Q W Y are diphthongs, ʤ ʧ affricates, ᵊ ᵻ reduced vowels. */
export const PRIMARY = "ˈ";
export const SECONDARY = "ˌ";
export const VOWELS: ReadonlySet<string> = new Set("AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ");
export const CONSONANTS: ReadonlySet<string> = new Set("bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθ");
const DOUBLE_WEIGHT = "AIOQWYʤʧ";

/** -2 removes stress, -1 to 0 lower it, 0.5 to 2 raise it; `null` keeps it. */
export type Stress = -2 | -1 | -0.5 | 0 | 0.5 | 1 | 2 | null;

/** Lowers or raises the stress of a word. The first case that fits decides. */
export function withStress(phonemes: string, stress: Stress): string {
  if (stress === null) return phonemes;
  if (stress < -1) return phonemes.replaceAll(PRIMARY, "").replaceAll(SECONDARY, "");
  const primary = phonemes.includes(PRIMARY);
  const secondary = phonemes.includes(SECONDARY);
  if (stress === -1 || (primary && (stress === 0 || stress === -0.5))) {
    return phonemes.replaceAll(SECONDARY, "").replaceAll(PRIMARY, SECONDARY);
  }
  if (!primary && !secondary) {
    if (stress === 0 || stress === 0.5 || stress === 1) return beforeFirstVowel(phonemes, SECONDARY);
    if (stress > 1) return beforeFirstVowel(phonemes, PRIMARY);
    return phonemes;
  }
  if (stress >= 1 && !primary) return phonemes.replaceAll(SECONDARY, PRIMARY);
  return phonemes;
}

export function stressWeight(phonemes: string): number {
  let weight = 0;
  for (const phoneme of phonemes) weight += DOUBLE_WEIGHT.includes(phoneme) ? 2 : 1;
  return weight;
}

function beforeFirstVowel(phonemes: string, mark: string): string {
  for (let i = 0; i < phonemes.length; i++) {
    if (VOWELS.has(phonemes.charAt(i))) return phonemes.slice(0, i) + mark + phonemes.slice(i);
  }
  return phonemes;
}
