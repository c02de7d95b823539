import { wordSet } from "../../characters.ts";
import type { Language, Question } from "../language.ts";
import { createSentenceRules } from "../sentence-rules.ts";
import { ITALIAN_ALPHABET } from "./alphabet.ts";
import { normaliseItalian } from "./normalise.ts";
import { createUnitReader } from "./phonemes.ts";
import { loadStressTable, type StressTable } from "./stress-table.ts";
import { NUMBERED, TITLES } from "./vocabulary.ts";

const QUESTION_WORDS = wordSet(
  "chi che cosa cos come com quando quand dove dov donde perché perche quanto quanta quanti quante quant quale quali qual",
);
const LEAD_INS = wordSet(
  "e ed o ma allora dunque quindi poi a da di del in con per su tra fra fino verso secondo beh bene ecco scusi scusa senti " +
    "dimmi oh ah ehi",
);
/** What follows "o" without being an alternative: "o no?". */
const NO_CHOICE = wordSet("no cosa che qualcosa così sbaglio meno");

const HEADING =
  /^(?:(?:capitolo|parte|libro|atto|scena|canto|lettera)\s+[\p{L}\d]{1,20}(?:$|[.:—–-].*)|(?:prologo|epilogo|prefazione|introduzione|appendice)[^.!?]{0,40}$)/iu;

/** Loads the list of stressed words (30 kB) with the reader. */
export async function loadItalian(): Promise<Language> {
  return createItalian(await loadStressTable());
}

export function createItalian(table: StressTable): Language {
  return {
    tag: "it",
    sentences: createSentenceRules({
      beforeAnything: new Set([...TITLES.keys(), "es", "p.es", "p", "ad.es"]),
      beforeNumbers: new Set(NUMBERED.keys()),
      heading: HEADING,
    }),
    alphabet: ITALIAN_ALPHABET,
    normalise: normaliseItalian,
    units: createUnitReader(table),
    question: questionKind,
    choiceAt,
  };
}

/** A question is open if a clause of it begins with a question word: "Scusi, dov'è la stazione?" */
function questionKind(sentence: string): Question {
  for (const clause of sentence.split(/[,;:—–()]/u)) {
    const first = wordsIn(clause).find((word) => !LEAD_INS.has(word));
    if (first !== undefined && QUESTION_WORDS.has(first)) return "open";
  }
  return choiceAt(wordsIn(sentence)) > 0 ? "choice" : "yes-no";
}

function choiceAt(words: readonly string[]): number {
  const at = Math.max(words.lastIndexOf("o"), words.lastIndexOf("oppure"));
  const next = words[at + 1];
  return at > 0 && next !== undefined && !NO_CHOICE.has(next) ? at : -1;
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
