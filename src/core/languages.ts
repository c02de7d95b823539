/** Languages a recording may be in: ISO 639-1 code (639-3 if there is none) and lower-case English name. */
export const LANGUAGE_NAMES: ReadonlyMap<string, string> = new Map(
  pairs(
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
      "yi yiddish|yo yoruba|yue cantonese|zh chinese",
  ),
);

/** Codes that ISO has replaced, near synonyms, and Whisper's own code for Javanese. */
export const OTHER_CODES: ReadonlyMap<string, string> = new Map(
  pairs("jw jv|nb no|iw he|in id|ji yi|fil tl"),
);

/** Further names that OpenAI's models use, with their codes. */
export const OTHER_NAMES: ReadonlyMap<string, string> = new Map(
  pairs(
    "burmese my|castilian es|flemish nl|haitian ht|letzeburgesch lb|mandarin zh|moldavian ro|moldovan ro|panjabi pa|" +
      "pushto ps|sinhalese si|valencian ca",
  ),
);

const CODES: ReadonlyMap<string, string> = new Map([
  ...[...LANGUAGE_NAMES].map(([code, name]): [string, string] => [name, code]),
  ...OTHER_NAMES,
]);

/** Returns the canonical code for a code in any case, or `null` if it is unknown. */
export function languageCode(code: string): string | null {
  const lower = code.trim().toLowerCase();
  const known = OTHER_CODES.get(lower) ?? lower;
  return LANGUAGE_NAMES.has(known) ? known : null;
}

/** Returns the code for a lower-case English name, ours or OpenAI's, or `null` if it is unknown. */
export function languageCodeOfName(name: string): string | null {
  return CODES.get(name) ?? null;
}

/**
 * Returns the code for a code (with or without a region) or an English name, in any case; `null` if it is unknown.
 */
export function languageCodeFrom(named: string): string | null {
  const lower = named.trim().toLowerCase();
  return languageCodeOfName(lower) ?? languageCode(lower.split(/[-_]/)[0]!);
}

/** Returns the full lower-case English name, as in OpenAI's API; `unknown` for an unknown code. */
export function languageName(code: string | null): string {
  return code === null ? "unknown" : (LANGUAGE_NAMES.get(languageCode(code) ?? "") ?? code);
}

/** Splits "key value|key value". Only a value may have spaces. */
function pairs(text: string): [string, string][] {
  return text.split("|").map((pair) => [pair.slice(0, pair.indexOf(" ")), pair.slice(pair.indexOf(" ") + 1)]);
}
