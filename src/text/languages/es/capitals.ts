import { initialsRules, letterSpeller } from "../rewriter.ts";
import { type Rule, wordRule } from "../rule.ts";
import { LETTER_NAMES, UNSTRESSED } from "./vocabulary.ts";
import { RESPELLED } from "./word-sounds.ts";

const spelledLetters = letterSpeller(LETTER_NAMES);

const SYLLABLE = "(?:[BCDFGKPT][LR]|CH|LL|QU|GU|[BCDFGHJ-NPRSTV-ZÑ])?[AEIOUÁÉÍÓÚ]{1,2}[BCDFGL-PRSTVXYZ]?";
const SAYABLE = new RegExp(`^(?:${SYLLABLE}){1,6}$`);
const SHORT_WORDS = /^(?:no|sí|ya|es|va|ve|da|he|ha|yo|tú|él|mí|ti|un|ni|fe|fue)$/;
const SOUNDS = /^(?:p?s+h*|[bg]?r+|h?m+|z+|p?f+|t?sk)$/;

/** Initials, acronyms and single letters. */
export const LETTERS: readonly Rule[] = [
  ...initialsRules(spelledLetters),
  wordRule("(\\p{Lu}{2,6})(s?)", (_match, letters, plural) => acronym(letters!) + plural!),
  wordRule("[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZñÑ]", spelledLetters),
  wordRule("[b-df-hj-np-tv-xz]{2,6}", (match) => (SOUNDS.test(match) ? match : spelledLetters(match))),
];

/** OTAN and UNESCO are words, DNI and IA are letters. */
function acronym(letters: string): string {
  const word = letters.toLowerCase();
  if (word === "ok") return "okey";
  if (UNSTRESSED.has(word) || RESPELLED.has(word) || SHORT_WORDS.test(word)) return word;
  return letters.length > 2 && SAYABLE.test(letters.replace(/Y$/, "I")) ? word : spelledLetters(letters);
}
