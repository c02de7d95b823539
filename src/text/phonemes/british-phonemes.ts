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
