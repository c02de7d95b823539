import type { Language } from "../../../text/languages/language.ts";
import { choiceAt, normaliseWord, type SentenceKind, wordsIn } from "./sentence-kind.ts";

/** A word at whose end the pitch stays up, because more follows. */
export interface ContinuationRise {
  readonly word: number;
  /** Minimum pitch at its end, in semitones above the sentence's median. */
  readonly toSemitones: number;
  readonly maxSemitones: number;
}

export interface SegmentText {
  readonly text: string;
  /** Spoken words of the sentence, of this segment, and before it. */
  readonly words: number;
  readonly wordsInside: number;
  readonly wordsBefore: number;
  /** Default: English. */
  readonly questions?: Pick<Language, "choiceAt">;
}

/**
 * Returns the words to raise: before the "or" of a choice, and before the "and" of a list without a comma (at commas
 * the network stays up by itself). None if spoken and written words differ in number ("$5" is two), since they cannot
 * be matched.
 */
export function continuationRises(
  { text, words, wordsInside, wordsBefore, questions = { choiceAt } }: SegmentText,
  kind: SentenceKind,
): readonly ContinuationRise[] {
  const written = wordsIn(text);
  if (written.length !== words) return [];
  const plain = written.map(normaliseWord);
  const [at, lift] =
    kind.question === null
      ? [listAt(written, plain), LIST]
      : [kind.question === "choice" ? questions.choiceAt(plain) : -1, CHOICE];
  const word = at - 1 - wordsBefore;
  return at > 0 && word >= 0 && word < wordsInside ? [{ word, ...lift }] : [];
}

/** Returns the index of the "and" or "or" before a list's last item; -1 without a list, or after a comma. */
function listAt(written: readonly string[], plain: readonly string[]): number {
  const at = Math.max(plain.lastIndexOf("and"), plain.lastIndexOf("or"));
  const rest = written.length - 1 - at;
  if (at < 2 || rest < 1 || rest > MAX_LAST_ITEM_WORDS || hasComma(written[at - 1])) return -1;
  for (let before = at - 2; before >= Math.max(0, at - 1 - MAX_ITEM_WORDS); before--) {
    if (hasComma(written[before])) return CLAUSE_STARTS.has(plain[before + 1]!) ? -1 : at;
  }
  return -1;
}

function hasComma(word: string | undefined): boolean {
  return /[,;][^\p{L}\p{N}]*$/u.test((word ?? "").slice(-MAX_MARKS_CHARS));
}

const CHOICE = { toSemitones: 2.5, maxSemitones: 3 };
const LIST = { toSemitones: 0.5, maxSemitones: 1.5 };
/** UTF-16 units at a word's end in which marks are looked for. */
const MAX_MARKS_CHARS = 8;
/** Maximum words of a list item. */
const MAX_ITEM_WORDS = 3;
const MAX_LAST_ITEM_WORDS = 5;
/** "However, he came and went" is no list. */
const CLAUSE_STARTS: ReadonlySet<string> = new Set(
  "but he i it she that there they this we who which you".split(" "),
);
