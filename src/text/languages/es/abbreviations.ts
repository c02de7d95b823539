import { type Rule, rule, wordRule } from "./rule.ts";
import { ABBREVIATIONS, INITIALS, NUMBERED, TITLES } from "./vocabulary.ts";

/** Abbreviations. A full stop stays only where it also ends the sentence. */
export const ABBREVIATED: readonly Rule[] = [
  wordRule("EE ?UU", "Estados Unidos"),
  rule("(?<![\\p{L}\\p{N}.])\\p{L}{1,2}(?:\\. ?\\p{L}{1,2}){1,4}\\.?(?!\\p{L})", withoutInitials),
  rule("(?<![\\p{L}\\p{N}.])[Ss]s?\\. ?(?=[IVX]{1,6}(?!\\p{L}))", "siglo "),
  wordRule("D\\.?ª", "doña"),
  wordRule("s/n", "sin número"),
  rule("(?<![\\p{L}\\p{N}])[Cc]/ ?(?=\\p{Lu})", "calle "),
  rule("(?<![\\p{L}\\p{N}])[Nn]\\.?[º°] ?(?=\\d)", "número "),
  rule("(?<![\\p{L}\\p{N}.])(\\p{L}{1,7})\\.(?=( ?[\\p{L}\\p{N}¿¡]|))", (match, word, next, at, all) =>
    expanded(match, word!, next!, Number(at) + match.length === all!.length),
  ),
  wordRule("(Sra?|Srta|Dra?|Profa?)(?= \\p{Lu}\\p{Ll})", (_match, title) => TITLES.get(title!)!),
];

/** Reads the longest listed beginning of "p. ej. la". */
function withoutInitials(match: string): string {
  const ends = Array.from(match.matchAll(/(?<=\p{L})(?=\.|$)/gu), ({ index }) => index).reverse();
  for (const end of ends) {
    const said = INITIALS.get(match.slice(0, end).replaceAll(" ", ""));
    if (said !== undefined) return said + match.slice(end).replace(/^\./, "");
  }
  return match;
}

/** @param next the next character, after a space if there is one */
function expanded(match: string, word: string, next: string, isLast: boolean): string {
  const title = TITLES.get(word);
  if (title !== undefined && /^ ?\p{Lu}/u.test(next)) return title;
  const numbered = NUMBERED.get(word) ?? NUMBERED.get(word.toLowerCase());
  if (numbered !== undefined && /^ ?[\dIVXLC]/.test(next))
    return `${numbered}${next.startsWith(" ") ? "" : " "}`;
  const lone = word.length > 2 ? (title ?? numbered) : word.length > 1 ? title : undefined;
  const said = ABBREVIATIONS.get(word) ?? ABBREVIATIONS.get(word.toLowerCase()) ?? lone;
  if (said === undefined) return match;
  return isLast || /^ [\p{Lu}¿¡]/u.test(next) ? `${said}.` : said;
}
