import { AboutTheVoice, asksSomething } from "./about-the-voice.ts";
import { isWishAnyway, negationAt } from "./negations.ts";
import {
  isFear,
  isKnownAt,
  isKnownWord,
  type Phrase,
  phraseAt,
  STRENGTHS,
  TOO_MUCH,
  VERBS,
} from "./phrases.ts";
import { rateAt } from "./rates.ts";
import { meaningOf, oppositeOf, setOf, type Trait } from "./traits.ts";

const MAX_WORD_CHARS = 24;

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
  const reader = new SentenceReader(words, asked, unfollowed);
  for (let at = 0; at < words.length; ) at += reader.step(at);
}

/** What was wished for last, and how it was asked for before: "slow it down a bit". */
interface LastWish {
  readonly trait: Trait;
  readonly strength: number;
  readonly before: number;
}

class SentenceReader {
  readonly #words: readonly string[];
  readonly #asked: Map<Trait, number>;
  readonly #unfollowed: Set<string>;
  readonly #aboutTheVoice: AboutTheVoice;
  readonly #lastOr: number;
  /** None of what comes next is wanted. */
  #isNegated = false;
  /** There is too much of it. */
  #isTooMuch = false;
  #strength = 1;
  /** A verb ends what is not wanted: "instead of shouting speak calmly". */
  #endsAtVerb = false;
  /** A list of what is not wanted goes on behind its commas. */
  #isList = false;
  /** "Rather" was said: what is behind "than" is not wanted. */
  #isRather = false;
  #last: LastWish | null = null;

  constructor(words: readonly string[], asked: Map<Trait, number>, unfollowed: Set<string>) {
    this.#words = words;
    this.#asked = asked;
    this.#unfollowed = unfollowed;
    this.#aboutTheVoice = new AboutTheVoice(words);
    this.#lastOr = Math.max(words.lastIndexOf("or"), words.lastIndexOf("nor"));
  }

  /** @returns how many words were read */
  step(at: number): number {
    const word = this.#words[at]!;
    if (word === ",") return this.#comma(at);
    if (word === ":") {
      this.#isList = true;
      return 1;
    }
    const found = rateAt(this.#words, at) ?? phraseAt(this.#words, at);
    if (found !== null) return this.#wish(at, found);
    const negation = negationAt(this.#words, at);
    return negation > 0 ? this.#negation(at, negation) : this.#otherWord(at);
  }

  #comma(at: number): number {
    // Of "never fast, loud or shrill" each is unwanted; what comes behind "not fast, but" or "not fast, calm" is wanted.
    if (at > this.#lastOr && !this.#isList) this.#isNegated = false;
    this.#isTooMuch = false;
    this.#strength = 1;
    this.#last = null;
    return 1;
  }

  #wish(at: number, found: Phrase): number {
    if (!this.#isNegated) {
      if (this.#aboutTheVoice.has(at, found)) this.#ask(at, found);
      else this.#tell(at, found.count);
    }
    this.#isTooMuch = false;
    this.#strength = 1;
    return found.count;
  }

  #ask(at: number, { meaning: { trait: named, strength, isAllOfIt }, count }: Phrase): void {
    const trait = this.#isTooMuch ? oppositeOf(named) : named;
    if (trait === null || !isAllOfIt) this.#tell(at, count);
    if (trait === null) return;
    const opposite = oppositeOf(trait);
    // Of two that cannot be together the later one is meant.
    if (opposite !== null) this.#asked.delete(opposite);
    const wanted = strength * this.#strength;
    const before = this.#asked.get(trait) ?? 0;
    if (wanted > before) this.#asked.set(trait, wanted);
    this.#last = { trait, strength: wanted, before };
  }

  #negation(at: number, count: number): number {
    if (isWishAnyway(this.#words, at)) return 1;
    const word = this.#words[at]!;
    const isOnly = ONLY.has(this.#words[at + 1] ?? "");
    this.#isNegated = !(word === "not" && isOnly);
    this.#endsAtVerb = BEFORE_GERUNDS.has(word);
    return isOnly ? 2 : count;
  }

  #otherWord(at: number): number {
    const word = this.#words[at]!;
    const next = this.#words[at + 1] ?? "";
    const strength =
      STRENGTHS.get(word) ?? STRENGTHS.get(`${word} ${next}`) ?? multiple(word, next, this.#words[at + 2]);
    if (this.#turnsAt(word, next)) this.#isNegated = false;
    else if (word === "than" && this.#isRather) this.#isNegated = true;
    else if (TOO_MUCH.has(word)) this.#isTooMuch = true;
    else if (strength !== undefined) this.#strengthen(strength, next);
    else if (word === "rather") this.#isRather = true;
    else if (!this.#isNegated && (!isKnownAt(this.#words, at) || asksSomething(word))) this.#tell(at, 1);
    return 1;
  }

  /** Whether what is not wanted ends there. */
  #turnsAt(word: string, next: string): boolean {
    if (TURNS.has(word) || (word === "and" && VERBS.has(next))) return true;
    return this.#isNegated && (isFear(word, next) || (this.#endsAtVerb && VERBS.has(word)));
  }

  /** How much of what comes next, or, at the end of "slow it down a bit", of what was before. */
  #strengthen(strength: number, next: string): void {
    const last = this.#last;
    if (last === null || !ENDS.has(next)) {
      this.#strength = strength;
      return;
    }
    this.#asked.set(last.trait, Math.max(last.before, last.strength * strength));
    this.#last = null;
  }

  #tell(at: number, count: number): void {
    for (const word of this.#words.slice(at, at + count)) {
      if (count === 1 || !isKnownWord(word) || meaningOf(word) !== null || asksSomething(word))
        this.#unfollowed.add(shown(word));
    }
  }
}

/** Of "twice as loud"; what is said of a speed so is a number: see `rates.ts`. */
function multiple(word: string, next: string, third = ""): number | undefined {
  return (word === "twice" || word === "double") && next === "as" && meaningOf(third) !== null
    ? 1.6
    : undefined;
}

/** Nothing but letters of a header, whatever was asked. */
function shown(word: string): string {
  if (/^\d/.test(word)) return "numbers";
  const letters = word.replaceAll("'", "").replaceAll("-", " ");
  return /^[a-z ]+$/.test(letters) ? letters.slice(0, MAX_WORD_CHARS).trim() : "words that are not English";
}

const BEFORE_GERUNDS = setOf("without instead");
/** What may stand behind the end of a clause. */
const ENDS: ReadonlySet<string> = new Set(["", ",", "and", "but", "please"]);
/** Of "not only calm". */
const ONLY = setOf("only just merely");
/** What is not wanted ends there. */
const TURNS = setOf("but instead however yet");
