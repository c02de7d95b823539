import { initialsRules, letterSpeller } from "../rewriter.ts";
import { type Rule, rule, wordRule } from "../rule.ts";
import { LETTER_NAMES } from "./vocabulary.ts";

const spelledLetters = letterSpeller(LETTER_NAMES);

const SAYABLE = /^[BCDFGLMNPRSTVZ]?[LR]?[AEIOU]{1,2}(?:[BCDFGLMNPRSTVZ]{1,2}[AEIOU])*[BCDFGLMNPRSTVXZ]?$/;
const SHORT_WORDS =
  /^(?:il|lo|la|i|gli|le|un|di|da|in|su|e|o|a|ma|se|sì|no|ho|ha|hai|ci|mi|ti|si|vi|ne|non|per|con|che|chi|io|tu)$/;

/** Initials, acronyms and single letters. */
export const LETTERS: readonly Rule[] = [
  ...initialsRules(spelledLetters),
  wordRule("\\p{Lu}{2,6}", acronym),
  rule("(?<![\\p{L}\\p{N}])[b-df-hj-np-tv-zB-DF-HJ-NP-TV-Z](?![\\p{L}\\p{N}'’])", spelledLetters),
];

/** FIAT and NATO are words, DNA and UE are letters. */
function acronym(letters: string): string {
  const word = letters.toLowerCase();
  if (word === "ok") return "okay";
  if (SHORT_WORDS.test(word)) return word;
  return letters.length > 2 && SAYABLE.test(letters) ? word : spelledLetters(letters);
}
