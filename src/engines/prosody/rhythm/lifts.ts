import { choiceAt, comparable, type SentenceKind, wordsIn } from "./sentence-kind.ts";

/** A word at whose end the voice stays up, because more is to come. */
export interface Lift {
  /** Number of the word in its segment, from 0. */
  readonly word: number;
  /** Where its pitch is to end at least, in semitones above the sentence's median. */
  readonly toSemitones: number;
  /** How far it may be lifted for that. */
  readonly maxSemitones: number;
}

/** The part of a sentence that is spoken in one breath. */
export interface Breath {
  readonly text: string;
  /** Spoken words of the whole sentence, of this part, and of what comes before it. */
  readonly words: number;
  readonly wordsInside: number;
  readonly wordsBefore: number;
}

/**
 * The words to lift: before the "or" of a choice, and before the "and" of a list where no comma marks it; at commas the
 * network stays up by itself. None where written and spoken words do not agree in number ("$5" is two), since then
 * nobody knows which is which.
 */
export function liftsOf(
  { text, words, wordsInside, wordsBefore }: Breath,
  kind: SentenceKind,
): readonly Lift[] {
  const written = wordsIn(text);
  if (written.length !== words) return [];
  const plain = written.map(comparable);
  const [at, lift] =
    kind.question === null
      ? [listAt(written, plain), LIST]
      : [kind.question === "choice" ? choiceAt(plain) : -1, CHOICE];
  const word = at - 1 - wordsBefore;
  return at > 0 && word >= 0 && word < wordsInside ? [{ word, ...lift }] : [];
}

/** The place of the "and" or "or" before a list's last item; -1 where there is no list, or a comma stands before it. */
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
/** Marks after a word, in UTF-16 units: what is before is not looked at. */
const MAX_MARKS_CHARS = 8;
/** Words in an item. */
const MAX_ITEM_WORDS = 3;
const MAX_LAST_ITEM_WORDS = 5;
/** "However, he came and went" is no list. */
const CLAUSE_STARTS: ReadonlySet<string> = new Set(
  "but he i it she that there they this we who which you".split(" "),
);
