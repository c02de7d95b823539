import { abbreviationRule, initialsRule } from "../abbreviation-rules.ts";
import { type Rule, rule, wordRule } from "../rule.ts";
import { ABBREVIATIONS, INITIALS, isFeminine, NUMBERED, TITLES } from "./vocabulary.ts";

const TABLES = { titles: TITLES, numbered: NUMBERED, others: ABBREVIATIONS, initials: INITIALS };

export const ABBREVIATED: readonly Rule[] = [
  rule("(?<![\\p{L}\\p{N}.])S\\. ?(?=(\\p{Lu}\\p{Ll}{2,20}))", (_match, name) => saintBefore(name!)),
  initialsRule(TABLES),
  rule("(?<![\\p{L}\\p{N}])[Nn](?:\\.?[º°]|\\.) ?(?=\\d)", "numero "),
  wordRule("s\\.n\\.c\\.|snc", "senza numero civico"),
  wordRule("(\\p{L}{1,4}\\.\\p{L}{1,4}|Dr)(?= \\p{Lu})", (match) => TITLES.get(match) ?? match),
  abbreviationRule(TABLES, "(?:\\p{L}{1,4}\\.)?\\p{L}{1,6}"),
];

/** "San Marco", "santo Stefano", "sant'Anna", "santa Maria". */
function saintBefore(name: string): string {
  if (/^[AEIOU]/.test(name)) return "sant'";
  if (isFeminine(name.toLowerCase()) && !/^(?:Luca|Nicola|Mattia)$/.test(name)) return "santa ";
  return /^S[^aeiou]/.test(name) ? "santo " : "san ";
}
