import { type Rule, rule, wordRule } from "./rule.ts";
import { ABBREVIATIONS, INITIALS, NUMBERED, TITLES } from "./vocabulary.ts";

/** Abbreviations. A full stop stays only where it also ends the sentence. */
export const ABBREVIATED: readonly Rule[] = [
  wordRule("EE ?UU", "Estados Unidos"),
  rule("(?<![\\p{L}\\p{N}.])\\p{L}{1,2}(?:\\. ?\\p{L}{1,2}){1,4}\\.?(?!\\p{L})", withoutInitials),
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
  const numbered = NUMBERED.get(word);
  const isBeforeNumber = /^ ?[\dIVXLC]/.test(next);
  if (numbered !== undefined && isBeforeNumber) return `${numbered}${next.startsWith(" ") ? "" : " "}`;
  const said = ABBREVIATIONS.get(word) ?? (word.length > 2 ? (title ?? numbered) : undefined);
  if (said === undefined) return match;
  return isLast || /^ [\p{Lu}¿¡]/u.test(next) ? `${said}.` : said;
}
