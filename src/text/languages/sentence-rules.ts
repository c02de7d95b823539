import { isSpaceCode } from "../characters.ts";
import type { Language, Question, SentenceRules } from "./language.ts";

interface AbbreviationRules {
  /** Abbreviations, without their last full stop, that never end a sentence: titles, "p. ej.". */
  readonly beforeAnything: ReadonlySet<string>;
  /** Abbreviations that continue before a number: "pág. 7". */
  readonly beforeNumbers: ReadonlySet<string>;
}

/** Longer words are no abbreviations. Bounds the search. */
const MAX_ABBREVIATION_CHARS = 20;
const OPENING = "(\"“'‘«¿¡[";
const INITIAL = /^\p{Lu}$/u;
const NUMBER_AHEAD = /^(?:\p{Nd}|[IVXLC]{1,8}(?!\p{L}))/u;

/** Makes the rules of a language whose abbreviations are listed. Single capitals are initials: "J. L. Borges". */
export function createSentenceRules({ beforeAnything, beforeNumbers }: AbbreviationRules): SentenceRules {
  return {
    continues(paragraph, mark, next) {
      if (paragraph.charAt(mark) !== ".") return false;
      const word = wordBefore(paragraph, mark);
      if (beforeAnything.has(word) || INITIAL.test(word)) return true;
      return beforeNumbers.has(word) && NUMBER_AHEAD.test(paragraph.slice(next, next + 10));
    },
  };
}

/** Returns the word before a mark without opening marks, or "" if it is too long. */
function wordBefore(paragraph: string, mark: number): string {
  const first = Math.max(0, mark - MAX_ABBREVIATION_CHARS - 1);
  let start = mark;
  while (start > first && !isSpaceCode(paragraph.charCodeAt(start - 1))) start--;
  if (mark - start > MAX_ABBREVIATION_CHARS) return "";
  while (start < mark && OPENING.includes(paragraph.charAt(start))) start++;
  return paragraph.slice(start, mark);
}

/** Words of a language, in lower case, that tell which kind of question a sentence is. */
interface QuestionWords {
  readonly questionWords: ReadonlySet<string>;
  /** Words before the question word: "and", "with", "sorry". */
  readonly leadIns: ReadonlySet<string>;
  /** Words before an alternative: "or". */
  readonly alternatives: ReadonlySet<string>;
  /** Words after "or" that are no alternative, as in "or not?". */
  readonly noChoice: ReadonlySet<string>;
}

export function createQuestionRules(words: QuestionWords): Pick<Language, "question" | "choiceAt"> {
  const { questionWords, leadIns, alternatives, noChoice } = words;

  /** A question is open if a clause of it begins with a question word. The last "¿" marks where it begins. */
  function question(sentence: string): Question {
    const asked = sentence.slice(sentence.lastIndexOf("¿") + 1);
    for (const clause of asked.split(/[,;:—–()]/u)) {
      const first = wordsIn(clause).find((word) => !leadIns.has(word));
      if (first !== undefined && questionWords.has(first)) return "open";
    }
    return choiceAt(wordsIn(asked)) > 0 ? "choice" : "yes-no";
  }

  function choiceAt(spoken: readonly string[]): number {
    const at = spoken.findLastIndex((word) => alternatives.has(word));
    const next = spoken[at + 1];
    return at > 0 && next !== undefined && !noChoice.has(next) ? at : -1;
  }

  return { question, choiceAt };
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
