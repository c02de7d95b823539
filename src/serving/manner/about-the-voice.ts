import { FILLERS, NOUNS } from "./fillers.ts";
import { isRefusal } from "./negations.ts";
import { isKnownAt, PARTICLES, type Phrase, phraseAt, STRENGTHS, VERBS } from "./phrases.ts";
import { AMOUNTS, DIMENSIONS, PERSONAL, setOf } from "./traits.ts";

/**
 * Which wishes of a sentence are about how to speak. A word such as "high" means what it does here only where all around it is
 * understood: not before a noun that is unknown ("a high school teacher"), nor where somebody else is spoken of ("if the
 * caller is angry"). Where that is uncertain the answer is no, so that the worst that a reader does is nothing.
 */
export class AboutTheVoice {
  readonly #words: readonly string[];
  /** From where on somebody else is spoken of, or a case that may not be. */
  readonly #othersFrom: number;

  /** How many words before each are unknown. */
  readonly #unknown: readonly number[];

  constructor(words: readonly string[]) {
    this.#words = words;
    let unknown = 0;
    this.#unknown = [0, ...words.map((_, at) => (isUnknown(words, at) ? ++unknown : unknown))];
    this.#othersFrom = othersFrom(words);
  }

  has(at: number, phrase: Phrase): boolean {
    const words = this.#words;
    const behind = at + phrase.count;
    const begin = clauseBegin(words, at);
    const end = clauseEnd(words, behind);
    const head = headBehind(words, behind);
    const { trait } = phrase.meaning;
    return (
      at < this.#othersFrom &&
      !hasAny(words, begin, at, SUBJECTS) &&
      !isRefusedBehind(words, behind, end) &&
      !isAnotherWord(words, at, phrase) &&
      !isNoun(words, at, head) &&
      (!isVague(words, at, phrase, head) || !this.#hasUnknown(begin, end)) &&
      (isHeadKnown(words, head, at) || (PERSONAL.has(trait) && isLikeSomebody(words, at))) &&
      (!this.#hasUnknown(begin, at) || isInManner(words, begin, at, head))
    );
  }

  #hasUnknown(from: number, to: number): boolean {
    return this.#unknown[from] !== this.#unknown[to];
  }
}

function othersFrom(words: readonly string[]): number {
  let isOther = false;
  for (const [at, word] of words.entries()) {
    if (CASES.has(word)) return at;
    if (word === ",") isOther = false;
    if ((isOther || isNoun(words, at - 1, at)) && OF_OTHERS.has(word)) return at;
    if (OTHERS.has(word) || isUnknown(words, at)) isOther = true;
  }
  return words.length;
}

/** Behind the last comma, or "but", or "and" that goes on with a verb. */
function clauseBegin(words: readonly string[], at: number): number {
  let begin = at;
  while (begin > 0) {
    const before = words[begin - 1]!;
    if (BREAKS.has(before) || (before === "and" && VERBS.has(words[begin]!))) break;
    begin -= 1;
  }
  return begin;
}

function clauseEnd(words: readonly string[], from: number): number {
  let end = from;
  while (end < words.length && !BREAKS.has(words[end]!)) end += 1;
  return end;
}

function isRefusedBehind(words: readonly string[], from: number, end: number): boolean {
  for (let at = from; at < end; at++) if (isRefusal(words, at)) return true;
  return false;
}

/** "Warm up", "bored of this", "composed by Bach", "deep down", "a low mood". */
function isAnotherWord(words: readonly string[], at: number, { count, isBare }: Phrase): boolean {
  const last = words[at + count - 1]!;
  const behind = words[at + count] ?? "";
  if (PARTICLES.has(behind) || (last.endsWith("ed") && CAUSES.has(behind))) return true;
  return isBare === true && (INWARD.has(behind) || (NOUNS.has(behind) && !DIMENSIONS.has(behind)));
}

/** Whether it means what it does here only among words that are all known: "lower", "bright"; but not "a bright voice". */
function isVague(words: readonly string[], at: number, { isBare }: Phrase, head: number): boolean {
  return isBare === true || (OF_THINGS.has(words[at]!) && !NOUNS.has(words[head] ?? ""));
}

/** Behind all that is said of the same thing: of "calm, quiet and very warm tone" where "tone" is. */
function headBehind(words: readonly string[], from: number): number {
  let at = from;
  while (at < from + MOST_SAID) {
    const phrase = at < words.length ? phraseAt(words, at) : null;
    if (phrase !== null) at += phrase.count;
    else if (ADVERBS.has(words[at] ?? "")) at += 1;
    else if (JOINS.has(words[at] ?? "") && isWishBehind(words, at + 1)) at += 1;
    // "A gentle, curious narrator."
    else if (JOINS.has(words[at] ?? "") && isUnknown(words, at + 1) && NOUNS.has(words[at + 2] ?? ""))
      at += 2;
    else break;
  }
  return at;
}

function isWishBehind(words: readonly string[], from: number): boolean {
  let at = from;
  while (JOINS.has(words[at] ?? "") || ADVERBS.has(words[at] ?? "")) at += 1;
  return at < words.length && phraseAt(words, at) !== null;
}

/** Whether what is slow or low is the voice: its noun is known, or there is none. */
function isHeadKnown(words: readonly string[], head: number, wish: number): boolean {
  const word = words[head] ?? ",";
  const isAdverb = /[^d]ly$/.test(words[head - 1] ?? "") || /ly$/.test(words[wish]!);
  if (isUnknown(words, head)) return isAdverb && !word.endsWith("ed") && !ADJECTIVES.has(words[head - 1]!);
  if (word === "to") return isAdverb || words[head - 1] === "enough" || !isUnknown(words, head + 1);
  if (!NOUNS.has(word) && !DIMENSIONS.has(word)) return true;
  let next = head + 1;
  while (NOUNS.has(words[next] ?? "") || DIMENSIONS.has(words[next] ?? "")) next += 1;
  if (isUnknown(words, next)) return false;
  if (words[next] !== "of") return true;
  next += 1;
  while (FILLERS.has(words[next] ?? "") && !NOUNS.has(words[next]!)) next += 1;
  return !isUnknown(words, next);
}

/** "The patient", "the quiet of the night": what would say how something is, if there were something. */
function isNoun(words: readonly string[], at: number, head: number): boolean {
  if (at < 1 || phraseAt(words, at) === null) return false;
  const before = beforeAll(words, at);
  if (!ARTICLES.has(words[before] ?? "") || STRENGTHS.has(words[before + 1]!)) return false;
  const word = words[head] ?? ",";
  return !isUnknown(words, head) && !NOUNS.has(word) && !DIMENSIONS.has(word) && !PEOPLE.has(word);
}

/** "Like a cheerful pirate", "as a calm, patient nurse". */
function isLikeSomebody(words: readonly string[], at: number): boolean {
  const before = beforeAll(words, at);
  return (
    !OF_THINGS.has(words[at]!) &&
    ARTICLES.has(words[before] ?? "") &&
    (words[before - 1] === "like" || words[before - 1] === "as")
  );
}

/** "Greet them in a calm tone": of a manner it is said whatever stands before. */
function isInManner(words: readonly string[], begin: number, at: number, head: number): boolean {
  if (!MANNERS.has(words[head] ?? "") || hasAny(words, begin, at, SOMEBODY_ELSE)) return false;
  let before = beforeAll(words, at);
  // Another adjective that is unknown: "in an emotive and friendly tone".
  while (isUnknown(words, before) && before > begin) before = beforeAll(words, before);
  if (ARTICLES.has(words[before] ?? "") || words[before] === "your") before -= 1;
  return words[before] === "in" || words[before] === "using";
}

/** Before all that is said of the same thing. */
function beforeAll(words: readonly string[], at: number): number {
  let before = at - 1;
  while (before >= 0 && before > at - MOST_SAID) {
    const word = words[before]!;
    const isSaid = JOINS.has(word) || ADVERBS.has(word) || phraseAt(words, before) !== null;
    if (ARTICLES.has(word) || !isSaid) break;
    before -= 1;
  }
  return before;
}

function isUnknown(words: readonly string[], at: number): boolean {
  const word = words[at] ?? ",";
  return word !== "," && word !== ":" && !isKnownAt(words, at);
}

function hasAny(words: readonly string[], from: number, to: number, of: ReadonlySet<string>): boolean {
  for (let at = from; at < to; at++) if (of.has(words[at]!)) return true;
  return false;
}

/** Words that are looked at, at most, for what is said of one thing: so that time is linear. */
const MOST_SAID = 20;
/** Where what follows holds in some cases alone. */
const CASES = setOf("if when whenever unless until whoever once");
/** Who does not speak here. */
const OTHERS = setOf("he she they them their his her who whose which others");
/** Who did something, as a story tells it. */
const SUBJECTS = setOf("he she they who");
const SOMEBODY_ELSE: ReadonlySet<string> = new Set([
  ...OTHERS,
  ...setOf("someone somebody speaking talking"),
]);
/** What is then said is said of them. */
const OF_OTHERS = setOf(
  "is are was were isn't aren't be being seem seems sound sounds feel feels get gets become becomes who that",
);
const BREAKS = setOf(", : but instead however yet then");
const JOINS = setOf(", and or");
const ADVERBS: ReadonlySet<string> = new Set([
  ...[...STRENGTHS.keys()].filter((word) => !word.includes(" ")),
  ..."so too more less even quite rather almost enough".split(" "),
]);
/** Of "bored of this", "composed by Bach". */
const CAUSES = setOf("by of");
/** Of "deep down". */
const INWARD = setOf("down within");
const ARTICLES = setOf("a an the");
const PEOPLE = setOf("person someone somebody one");
/** Words of what somebody is like that are as often said of things: "bright and early", "measured in meters". */
const OF_THINGS = setOf("bright positive measured varied flat");
/** They look like adverbs. */
const ADJECTIVES = setOf("friendly lively leisurely jolly melancholy");
const MANNERS = setOf("tone voice manner way style pace delivery cadence register tempo speed volume pitch");

/** Amounts that ask for something wherever they stand, and are told of where nothing is done for them. */
export function asksSomething(word: string): boolean {
  return MULTIPLES.has(word) || (AMOUNTS.has(word) && !NO_WISH.has(word));
}

/** Multiples of what nothing is done for. */
const MULTIPLES = setOf("half twice double triple");
const NO_WISH = setOf("more less much enough up down top lot lots drop");
