/** ISO 639-1 codes by the English names of their languages, in lower case. */
let codes: ReadonlyMap<string, string> | null = null;

/**
 * The ISO 639-1 code of a language that an endpoint names: by its code, as `en` or `en-US`, or by its English name, as
 * `english`. `null` for what is neither.
 */
export function languageCodeOf(named: string): string | null {
  const lower = named.trim().toLowerCase();
  codes ??= codesByName();
  const code = /^([a-z]{2})(?:[-_][a-z]{2,4})?$/.exec(lower)?.[1];
  if (code !== undefined && [...codes.values()].includes(code)) return code;
  return codes.get(lower) ?? null;
}

function codesByName(): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames("en", { type: "language", fallback: "none" });
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  const found = new Map<string, string>();
  for (const code of letters.flatMap((first) => letters.map((second) => first + second))) {
    const name = names.of(code)?.toLowerCase();
    // Of a code and the one that replaced it the later is kept under the name; `id` comes after `in`.
    if (name !== undefined) found.set(name, code);
  }
  for (const [name, code] of WHISPERS_NAMES) found.set(name, code);
  return found;
}

/** Names that OpenAI's models have for languages which are called otherwise today. */
const WHISPERS_NAMES: readonly (readonly [string, string])[] = [
  ["myanmar", "my"],
  ["moldavian", "ro"],
  ["castilian", "es"],
  ["flemish", "nl"],
  ["mandarin", "zh"],
  ["nynorsk", "nn"],
  ["tagalog", "tl"],
  ["haitian creole", "ht"],
];
