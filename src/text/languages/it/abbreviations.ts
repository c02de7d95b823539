import { abbreviationRule, initialsRule } from "../abbreviation-rules.ts";
import { type Rule, rule, wordRule } from "../rule.ts";
import { ABBREVIATIONS, INITIALS, NUMBERED, TITLES } from "./vocabulary.ts";

const TABLES = { titles: TITLES, numbered: NUMBERED, others: ABBREVIATIONS, initials: INITIALS };

export const ABBREVIATED: readonly Rule[] = [
  initialsRule(TABLES),
  rule("(?<![\\p{L}\\p{N}])[Nn](?:\\.?[º°]|\\.) ?(?=\\d)", "numero "),
  wordRule("s\\.n\\.c\\.|snc", "senza numero civico"),
  wordRule("(\\p{L}{1,4}\\.\\p{L}{1,4}|Dr)(?= \\p{Lu}\\p{Ll})", (match) => TITLES.get(match) ?? match),
  abbreviationRule(TABLES, "(?:\\p{L}{1,4}\\.)?\\p{L}{1,6}"),
];
