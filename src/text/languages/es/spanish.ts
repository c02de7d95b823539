import { wordSet } from "../../characters.ts";
import type { Language, Question } from "../language.ts";
import { createSentenceRules } from "../sentence-rules.ts";
import { SPANISH_ALPHABET } from "./alphabet.ts";
import { normaliseSpanish } from "./normalise.ts";
import { spanishUnits } from "./units.ts";
import { NUMBERED, TITLES } from "./vocabulary.ts";

const QUESTION_WORDS = wordSet(
  "qué quién quiénes cuál cuáles cómo cuándo dónde adónde cuánto cuánta cuántos cuántas que quien cual como cuando donde " +
    "cuanto cuanta cuantos cuantas",
);
const LEAD_INS = wordSet(
  "y e o pero entonces pues a de en con por para desde hasta hacia sobre según bueno oye perdón",
);
/** What follows "o" without being an alternative: "¿o no?". */
const NO_CHOICE = wordSet("no qué que algo así sea más menos");

/** The parts of abbreviations of several words, and those that stand before a word: "p. ej.", "EE. UU.". */
const NEVER_LAST = [...TITLES.keys(), ..."p ej p.ej P.ej p.e S.M EE RR FF CC JJ DD a d q".split(" ")];

export const SPANISH: Language = {
  tag: "es",
  sentences: createSentenceRules({
    beforeAnything: new Set(NEVER_LAST),
    beforeNumbers: new Set(NUMBERED.keys()),
    heading:
      /^(?:(?:cap[ií]tulo|parte|libro|acto|escena|canto|carta)\s+[\p{L}\d]{1,20}(?:$|[.:—–-].*)|(?:pr[óo]|ep[íi])logo[^.!?]{0,40}$)/iu,
  }),
  alphabet: SPANISH_ALPHABET,
  normalise: normaliseSpanish,
  units: spanishUnits,
  question: questionKind,
  choiceAt,
};

/** A question is open if its first clause that is no lead-in begins with a question word; "¿" marks where it begins. */
function questionKind(sentence: string): Question {
  const asked = sentence.slice(sentence.lastIndexOf("¿") + 1);
  const words = wordsIn(asked);
  for (const clause of asked.split(/[,;:—–()]/u)) {
    const first = wordsIn(clause).find((word) => !LEAD_INS.has(word));
    if (first !== undefined && QUESTION_WORDS.has(first)) return "open";
  }
  return choiceAt(words) > 0 ? "choice" : "yes-no";
}

function choiceAt(words: readonly string[]): number {
  const at = Math.max(words.lastIndexOf("o"), words.lastIndexOf("u"));
  const next = words[at + 1];
  return at > 0 && next !== undefined && !NO_CHOICE.has(next) ? at : -1;
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
