import { abbreviationRule, initialsRule } from "../abbreviation-rules.ts";
import { type Rule, rule, wordRule } from "../rule.ts";
import { ABBREVIATIONS, INITIALS, NUMBERED, TITLES } from "./vocabulary.ts";

const TABLES = { titles: TITLES, numbered: NUMBERED, others: ABBREVIATIONS, initials: INITIALS };

/** Abbreviations. A full stop stays only where it also ends the sentence. */
export const ABBREVIATED: readonly Rule[] = [
  wordRule("EE ?UU", "Estados Unidos"),
  initialsRule(TABLES),
  rule("(?<![\\p{L}\\p{N}.])[Ss]s?\\. ?(?=[IVX]{1,6}(?!\\p{L}))", "siglo "),
  wordRule("D\\.?ª", "doña"),
  wordRule("s/n", "sin número"),
  rule("(?<![\\p{L}\\p{N}])km (?=\\d)", "kilómetro "),
  rule("(?<![\\p{L}\\p{N}])[Cc]/ ?(?=\\p{Lu})", "calle "),
  rule("(?<![\\p{L}\\p{N}])[Nn]\\.?[º°]\\.? ?(?=\\d)", "número "),
  abbreviationRule(TABLES, "\\p{L}{1,7}"),
  wordRule("(Sra?|Srta|Dra?|Profa?)(?= \\p{Lu}\\p{Ll})", (_match, title) => TITLES.get(title!)!),
];
