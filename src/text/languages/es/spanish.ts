import { wordSet } from "../../characters.ts";
import type { Language } from "../language.ts";
import { createQuestionRules, createSentenceRules } from "../sentence-rules.ts";
import { SPANISH_ALPHABET } from "./alphabet.ts";
import { normaliseSpanish } from "./normalise.ts";
import { spanishUnits } from "./units.ts";
import { NUMBERED, TITLES } from "./vocabulary.ts";

const QUESTIONS = createQuestionRules({
  questionWords: wordSet(
    "qué quién quiénes cuál cuáles cómo cuándo dónde adónde cuánto cuánta cuántos cuántas que quien cual como cuando donde " +
      "cuanto cuanta cuantos cuantas",
  ),
  leadIns: wordSet(
    "y e o pero entonces pues a de en con por para desde hasta hacia sobre según bueno oye perdón",
  ),
  noChoice: wordSet("no qué que algo así sea más menos"),
  alternatives: wordSet("o u"),
});

/** The parts of abbreviations of several words, and those that stand before a word: "p. ej.", "EE. UU.". */
const NEVER_LAST = [...TITLES.keys(), ..."p ej p.ej P.ej p.e S.M EE RR FF CC JJ DD a d q".split(" ")];

export const SPANISH: Language = {
  tag: "es",
  sentences: createSentenceRules({
    beforeAnything: new Set(NEVER_LAST),
    beforeNumbers: new Set(NUMBERED.keys()),
  }),
  alphabet: SPANISH_ALPHABET,
  normalise: normaliseSpanish,
  units: spanishUnits,
  ...QUESTIONS,
};
