/** Languages that a recording may be in: ISO 639-1, or 639-3 where that has none, and the English name, in lower case. */
export const LANGUAGE_NAMES: ReadonlyMap<string, string> = new Map(
  (
    "af afrikaans|am amharic|ar arabic|as assamese|az azerbaijani|ba bashkir|be belarusian|bg bulgarian|bn bengali|" +
    "bo tibetan|br breton|bs bosnian|ca catalan|cs czech|cy welsh|da danish|de german|el greek|en english|es spanish|" +
    "et estonian|eu basque|fa persian|fi finnish|fo faroese|fr french|gl galician|gu gujarati|ha hausa|haw hawaiian|" +
    "he hebrew|hi hindi|hr croatian|ht haitian creole|hu hungarian|hy armenian|id indonesian|is icelandic|it italian|" +
    "ja japanese|jv javanese|ka georgian|kk kazakh|km khmer|kn kannada|ko korean|la latin|lb luxembourgish|" +
    "ln lingala|lo lao|lt lithuanian|lv latvian|mg malagasy|mi maori|mk macedonian|ml malayalam|mn mongolian|" +
    "mr marathi|ms malay|mt maltese|my myanmar|ne nepali|nl dutch|nn nynorsk|no norwegian|oc occitan|pa punjabi|" +
    "pl polish|ps pashto|pt portuguese|ro romanian|ru russian|sa sanskrit|sd sindhi|si sinhala|sk slovak|" +
    "sl slovenian|sn shona|so somali|sq albanian|sr serbian|su sundanese|sv swedish|sw swahili|ta tamil|te telugu|" +
    "tg tajik|th thai|tk turkmen|tl tagalog|tr turkish|tt tatar|uk ukrainian|ur urdu|uz uzbek|vi vietnamese|" +
    "yi yiddish|yo yoruba|yue cantonese|zh chinese"
  )
    .split("|")
    .map((line): [string, string] => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]),
);

/** Codes that ISO has since replaced or that mean nearly the same, and the one of Whisper's models for Javanese. */
export const OTHER_CODES: ReadonlyMap<string, string> = new Map([
  ["jw", "jv"],
  ["nb", "no"],
  ["iw", "he"],
  ["in", "id"],
  ["ji", "yi"],
  ["fil", "tl"],
]);

/** Other names that OpenAI's models have, and the code of each. */
export const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["burmese", "my"],
  ["castilian", "es"],
  ["flemish", "nl"],
  ["haitian", "ht"],
  ["letzeburgesch", "lb"],
  ["mandarin", "zh"],
  ["moldavian", "ro"],
  ["moldovan", "ro"],
  ["panjabi", "pa"],
  ["pushto", "ps"],
  ["sinhalese", "si"],
  ["valencian", "ca"],
]);

const CODES: ReadonlyMap<string, string> = new Map([
  ...[...LANGUAGE_NAMES].map(([code, name]): [string, string] => [name, code]),
  ...OTHER_NAMES,
]);

/** The code that a language is known by here, from a code in any case; `null` where it is none. */
export function languageCode(code: string): string | null {
  const lower = code.trim().toLowerCase();
  const known = OTHER_CODES.get(lower) ?? lower;
  return LANGUAGE_NAMES.has(known) ? known : null;
}

/** The code of a language by its English name in lower case, as here or as OpenAI's models have it; `null` for none. */
export function languageCodeOfName(name: string): string | null {
  return CODES.get(name) ?? null;
}

/** The code of a language by its code, with a region or without, or by its English name, in any case; `null` for none. */
export function languageCodeFrom(named: string): string | null {
  const lower = named.trim().toLowerCase();
  return languageCodeOfName(lower) ?? languageCode(lower.split(/[-_]/)[0]!);
}

/** What OpenAI's API calls a language: its full English name in lower case; `unknown` where nobody knows it. */
export function languageName(code: string | null): string {
  return code === null ? "unknown" : (LANGUAGE_NAMES.get(languageCode(code) ?? "") ?? code);
}
