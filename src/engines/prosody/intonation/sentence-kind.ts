import type { Question } from "../../../text/languages/language.ts";

export interface SentenceKind {
  readonly question: Question | null;
  readonly isExclaimed: boolean;
}

/**
 * Classifies a sentence by its last marks, before quotes, brackets and emoji: "?!" asks and exclaims.
 *
 * @param question classifies a question
 */
export function sentenceKind(text: string, question = questionKind): SentenceKind {
  const marks = /([.!?…]+)[^\p{L}\p{N}.!?…]*$/u.exec(text.slice(-MAX_END_CHARS))?.[1] ?? "";
  return { question: marks.includes("?") ? question(text) : null, isExclaimed: marks.includes("!") };
}

/** Returns the index of the "or" between the last two alternatives; -1 without a choice. */
export function choiceAt(words: readonly string[]): number {
  const at = words.lastIndexOf("or");
  const next = words[at + 1];
  return at > 0 && next !== undefined && !NO_CHOICE.has(next) ? at : -1;
}

/** Returns the words of a text with their marks: what has a letter or a digit, between spaces. */
export function wordsIn(text: string): string[] {
  return text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word));
}

/** Returns a word in lower case, without the marks around it, with straight apostrophes. */
export function normaliseWord(word: string): string {
  const [inside = ""] = /[\p{L}\p{N}](?:.*[\p{L}\p{N}])?/u.exec(word) ?? [];
  return inside.toLowerCase().replaceAll("’", "'");
}

/** Counts words up to `max`; in scripts without spaces each character is one. */
export function countWords(text: string, max: number): number {
  let count = 0;
  for (const [piece] of text.matchAll(/\S+/gu)) {
    const spaced = piece.replace(UNSPACED, () => {
      count += 1;
      return "";
    });
    if (/[\p{L}\p{N}]/u.test(spaced)) count += 1;
    if (count >= max) return max;
  }
  return count;
}

/**
 * A question is open if its first decisive clause begins with a question word, perhaps after a preposition. "So",
 * "and", a name or another single word decide nothing. "When it rains, do you walk?" is decided by its second clause.
 */
function questionKind(text: string): Question {
  const clauses = text
    .split(/[,;:—–()"“”]/u)
    .map((clause) => withoutLeadIns(wordsIn(clause).map(normaliseWord)))
    .filter((clause) => clause.length > 0);
  const isChoice = choiceAt(wordsIn(text).map(normaliseWord)) >= 0;
  let isOpen = false;
  for (const [index, [first = "", second = ""]] of clauses.entries()) {
    if (clauses[index]!.length === 1 && index < clauses.length - 1) continue;
    if (AUXILIARIES.has(first)) return isChoice ? "choice" : "yes-no";
    if (PREPOSITIONS.has(first) && QUESTION_WORD.test(second)) return "open";
    if (!QUESTION_WORD.test(first)) continue;
    if (AUXILIARIES.has(second) || first.includes("'")) return "open";
    isOpen = true;
  }
  if (isOpen) return "open";
  return isChoice ? "choice" : "yes-no";
}

function withoutLeadIns(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !LEAD_INS.has(word));
  return start < 0 ? words.slice(0, 1) : words.slice(start);
}

const MAX_END_CHARS = 40;
const QUESTION_WORD = /^(?:who|whom|whose|what|when|where|why|which|how)(?:'\w+)?$/;
const NEGATABLE = "are is was were do does did have has had could would should might must".split(" ");
const AUXILIARIES: ReadonlySet<string> = new Set([
  ...NEGATABLE,
  ...NEGATABLE.map((verb) => `${verb}n't`),
  ..."am can will shall may won't can't ain't shan't".split(" "),
]);
const PREPOSITIONS: ReadonlySet<string> = new Set(
  "about at by for from in of on since to under until with".split(" "),
);
const LEAD_INS: ReadonlySet<string> = new Set(
  (
    "ah also and anyway because but hello hey hi hm hmm just listen look no now oh ok okay or please right so sorry " +
    "still then uh um wait well yeah yes"
  ).split(" "),
);
/** "Or so", "or something": no choice. */
const NO_CHOICE: ReadonlySet<string> = new Set(
  "another anyone anything else later less so somebody someone something two whatever".split(" "),
);

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu;
