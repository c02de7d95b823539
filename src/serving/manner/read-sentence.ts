import { FILLERS } from "./fillers.ts";
import { isNegation, isWishAnyway, PAIRS } from "./negations.ts";
import { amountAt, phraseAt } from "./phrases.ts";
import { AMOUNTS, DIMENSIONS, type Meaning, oppositeOf, setOf, type Trait } from "./traits.ts";

const MAX_WORD_CHARS = 24;

/** What holds for the words that come next. */
interface Mood {
  /** None of it is wanted. */
  isNegated: boolean;
  /** There is too much of it. */
  isTooMuch: boolean;
  strength: number;
  /** A verb ends what is not wanted: "instead of shouting speak calmly". */
  endsAtVerb: boolean;
  /** A list of what is not wanted goes on behind its commas. */
  isList: boolean;
  /** "Rather" was said: what is behind "than" is not wanted. */
  isRather: boolean;
  /** What was wished for last, and how it was asked for before: "slow it down a bit". */
  last: { readonly trait: Trait; readonly strength: number; readonly before: number } | null;
}

/**
 * Reads one sentence.
 *
 * @param words and commas between them
 * @param asked what is wished for, and how much of it; it is changed
 * @param unfollowed gets the words that nothing is done for
 */
export function readSentence(
  words: readonly string[],
  asked: Map<Trait, number>,
  unfollowed: Set<string>,
): void {
  const lastOr = Math.max(words.lastIndexOf("or"), words.lastIndexOf("nor"));
  const mood: Mood = {
    isNegated: false,
    isTooMuch: false,
    strength: 1,
    endsAtVerb: false,
    isList: false,
    isRather: false,
    last: null,
  };
  for (let at = 0; at < words.length; ) at += step(words, at, mood, lastOr, asked, unfollowed);
}

/** @returns how many words that were */
function step(
  words: readonly string[],
  at: number,
  mood: Mood,
  lastOr: number,
  asked: Map<Trait, number>,
  unfollowed: Set<string>,
): number {
  const word = words[at]!;
  const next = words[at + 1] ?? "";
  if (word === ",") {
    // Of "never fast, loud or shrill" each is unwanted; what comes behind "not fast, but" or "not fast, calm" is wanted.
    if (at > lastOr && !mood.isList) mood.isNegated = false;
    mood.isTooMuch = false;
    mood.strength = 1;
    mood.last = null;
    return 1;
  }
  if (word === ":") {
    mood.isList = true;
    return 1;
  }
  const found = phraseAt(words, at) ?? amountAt(words, at);
  if (found !== null) {
    wish(found.meaning, mood, asked, () => unfollowed.add(shown(word)));
    mood.isTooMuch = false;
    mood.strength = 1;
    return found.count;
  }
  if (isNegation(word, next)) {
    if (isWishAnyway(words, at)) return 1;
    mood.isNegated = !(word === "not" && ONLY.has(next));
    mood.endsAtVerb = BEFORE_GERUNDS.has(word);
    return PAIRS.has(`${word} ${next}`) || ONLY.has(next) ? 2 : 1;
  }
  const strength = STRENGTHS.get(word) ?? STRENGTHS.get(`${word} ${next}`);
  if (turns(word, next, mood)) mood.isNegated = false;
  else if (word === "than" && mood.isRather) mood.isNegated = true;
  else if (TOO_MUCH.has(word)) mood.isTooMuch = true;
  else if (strength !== undefined) strengthen(strength, next, mood, asked);
  else if (word === "rather") mood.isRather = true;
  else if (!isFiller(word) && !mood.isNegated) unfollowed.add(shown(word));
  return 1;
}

/** Whether what is not wanted ends there. */
function turns(word: string, next: string, mood: Mood): boolean {
  if (TURNS.has(word) || (word === "and" && VERBS.has(next))) return true;
  return mood.isNegated && ((FEARS.has(word) && next === "to") || (mood.endsAtVerb && VERBS.has(word)));
}

/** How much of what comes next, or, at the end of "slow it down a bit", of what was before. */
function strengthen(strength: number, next: string, mood: Mood, asked: Map<Trait, number>): void {
  const { last } = mood;
  if (last === null || !ENDS.has(next)) {
    mood.strength = strength;
    return;
  }
  asked.set(last.trait, Math.max(last.before, last.strength * strength));
  mood.last = null;
}

function wish(
  { trait: named, strength, isAllOfIt }: Meaning,
  mood: Mood,
  asked: Map<Trait, number>,
  tellUnfollowed: () => void,
): void {
  if (mood.isNegated) return;
  const trait = mood.isTooMuch ? oppositeOf(named) : named;
  if (trait === null || !isAllOfIt) tellUnfollowed();
  if (trait === null) return;
  const opposite = oppositeOf(trait);
  // Of two that cannot be together the later one is meant.
  if (opposite !== null) asked.delete(opposite);
  const wanted = strength * mood.strength;
  const before = asked.get(trait) ?? 0;
  if (wanted > before) asked.set(trait, wanted);
  mood.last = { trait, strength: wanted, before };
}

/** Nothing but letters of a header, whatever was asked. */
function shown(word: string): string {
  const letters = word.replaceAll("'", "");
  return /^[a-z]+$/.test(letters) ? letters.slice(0, MAX_WORD_CHARS) : "words that are not English";
}

function isFiller(word: string): boolean {
  const [root = ""] = word.split("'");
  return (
    root.length < 2 ||
    FILLERS.has(root) ||
    FILLERS.has(word) ||
    DIMENSIONS.has(word) ||
    AMOUNTS.has(word) ||
    VERBS.has(word)
  );
}

const BEFORE_GERUNDS = setOf("without instead");
/** Of "don't be afraid to be loud". */
const FEARS = setOf("afraid hesitate shy");
/** What may stand behind the end of a clause. */
const ENDS: ReadonlySet<string> = new Set(["", ",", "and", "but", "please"]);
/** Of "not only calm". */
const ONLY = setOf("only just merely");
/** What is not wanted ends there. */
const TURNS = setOf("but instead however yet");
const VERBS = setOf("speak talk say read sound keep stay be use make remain deliver");
const TOO_MUCH = setOf("too less overly excessively");
const STRENGTHS: ReadonlyMap<string, number> = new Map([
  ...[
    "slightly",
    "bit",
    "little",
    "somewhat",
    "mildly",
    "touch",
    "subtly",
    "kinda",
    "kind of",
    "sort of",
  ].map((word) => [word, 0.5] as const),
  ..."very really extremely super highly much lot incredibly absolutely especially"
    .split(" ")
    .map((word) => [word, 1.6] as const),
]);
