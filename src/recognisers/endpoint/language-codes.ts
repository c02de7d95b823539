import { languageCode, languageCodeOfName } from "../../model/languages.ts";

/**
 * The code of a language that an endpoint names: by its code, as `en` or `en-US`, or by its English name, as `english`.
 * Besides those that a client may ask for it may be any of ISO 639-1. `null` for what is neither.
 */
export function languageCodeOf(named: string): string | null {
  const lower = named.trim().toLowerCase();
  const byName = languageCodeOfName(lower);
  if (byName !== null) return byName;
  otherCodes ??= codesByName();
  const code = /^([a-z]{2,3})(?:[-_][a-z0-9]{2,8})*$/.exec(lower)?.[1];
  const known = code === undefined ? null : languageCode(code);
  if (known !== null) return known;
  if (code !== undefined && [...otherCodes.values()].includes(code)) return code;
  return otherCodes.get(lower) ?? null;
}

/** Codes of ISO 639-1 by the English names that Unicode has for their languages today, in lower case. */
let otherCodes: ReadonlyMap<string, string> | null = null;

function codesByName(): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames("en", { type: "language", fallback: "none" });
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  const found = new Map<string, string>();
  for (const code of letters.flatMap((first) => letters.map((second) => first + second))) {
    const name = names.of(code)?.toLowerCase();
    // A code that was replaced has the name of the one that did.
    if (name !== undefined && !found.has(name)) found.set(name, languageCode(code) ?? code);
  }
  return found;
}
