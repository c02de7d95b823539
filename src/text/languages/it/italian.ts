import { wordSet } from "../../characters.ts";
import type { Language } from "../language.ts";
import { createQuestionRules, createSentenceRules } from "../sentence-rules.ts";
import { ITALIAN_ALPHABET } from "./alphabet.ts";
import { normaliseItalian } from "./normalise.ts";
import { createUnitReader } from "./phonemes.ts";
import { loadStressTable } from "./stress-table.ts";
import { NUMBERED, TITLES } from "./vocabulary.ts";

const QUESTIONS = createQuestionRules({
  questionWords: wordSet(
    "chi che cosa cos come com quando quand dove dov donde perché perche quanto quanta quanti quante quant quale quali qual",
  ),
  leadIns: wordSet(
    "e ed o ma allora dunque quindi poi a da di del in con per su tra fra fino verso secondo beh bene ecco scusi scusa senti " +
      "dimmi oh ah ehi",
  ),
  noChoice: wordSet("no cosa che qualcosa così sbaglio meno"),
  alternatives: wordSet("o oppure"),
});

/** Loads the list of stressed words (30 kB) with the reader. */
export async function loadItalian(): Promise<Language> {
  const table = await loadStressTable();
  return {
    tag: "it",
    sentences: createSentenceRules({
      beforeAnything: new Set([...TITLES.keys(), "es", "p.es", "p", "ad.es"]),
      beforeNumbers: new Set(NUMBERED.keys()),
    }),
    alphabet: ITALIAN_ALPHABET,
    normalise: normaliseItalian,
    units: createUnitReader(table),
    ...QUESTIONS,
  };
}
