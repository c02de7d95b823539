import type { AskedManner, Manner } from "../model/manner.ts";
import { FILLERS } from "./manner-fillers.ts";
import {
  AMOUNTS,
  DIMENSIONS,
  type Meaning,
  meaningOf,
  oppositeOf,
  PITCHES,
  TRAITS,
  type Trait,
} from "./manner-traits.ts";

/** What was made of instructions how to speak. */
export interface ReadManner {
  readonly manner: Manner;
  /** What of it is done, in our own words: `much slower`, `slightly cheerful`. At most one a trait. */
  readonly followed: readonly string[];
  /** Words that nothing is done for, of letters from a to z: at most {@link MAX_UNFOLLOWED}. */
  readonly unfollowed: readonly string[];
  /** How many more there are. */
  readonly moreUnfollowed: number;
}

/** UTF-16 units that are read: as many as OpenAI's API takes. What follows is not read. */
export const MAX_READ_CHARS = 4_096;
export const MAX_UNFOLLOWED = 8;
const MAX_WORD_CHARS = 24;

/**
 * Reads how something is to be said: English words for what a voice can do, more or less of it ("slightly", "very"), and
 * what is not wanted ("not too fast" is not fast, "don't whisper" is no wish to be quiet). Nothing else is understood.
 * Linear in the text, of which no more than {@link MAX_READ_CHARS} is read.
 */
export function mannerOf(instructions: string): ReadManner {
  const asked = new Map<Trait, number>();
  const unfollowed = new Set<string>();
  if (instructions.length > MAX_READ_CHARS) unfollowed.add("the rest");
  for (const sentence of sentencesIn(instructions.slice(0, MAX_READ_CHARS)))
    readSentence(sentence, asked, unfollowed);
  const all = [...unfollowed];
  return {
    manner: mannerIn(asked),
    followed: [...asked].map(([trait, strength]) => told(trait, strength)),
    unfollowed: all.slice(0, MAX_UNFOLLOWED),
    moreUnfollowed: Math.max(0, all.length - MAX_UNFOLLOWED),
  };
}

/** Instructions as an engine is given them, and what was made of them; `null` where nothing is asked. */
export function readInstructions(
  instructions = "",
): { readonly asked: AskedManner; readonly read: ReadManner } | null {
  const words = instructions.trim();
  if (words === "") return null;
  const read = mannerOf(words);
  return { asked: { words, figures: read.manner }, read };
}

/** Words, and commas between them. */
function sentencesIn(text: string): string[][] {
  const sentences: string[][] = [[]];
  const plain = text.normalize("NFKD").replaceAll(/\p{M}/gu, "").replaceAll("’", "'").toLowerCase();
  for (const [part] of plain.matchAll(/[\p{L}']+|[,.;:!?\n]/gu)) {
    // A colon stands behind what it is about: "Pace: slow".
    if (part === ":") continue;
    if (/^[.;!?\n]$/.test(part)) sentences.push([]);
    else sentences.at(-1)!.push(part);
  }
  return sentences;
}

/** What holds for the words that come next. */
interface Mood {
  /** None of it is wanted. */
  isNegated: boolean;
  /** There is too much of it. */
  isTooMuch: boolean;
  strength: number;
}

function readSentence(words: readonly string[], asked: Map<Trait, number>, unfollowed: Set<string>): void {
  const lastOr = Math.max(words.lastIndexOf("or"), words.lastIndexOf("nor"));
  const mood: Mood = { isNegated: false, isTooMuch: false, strength: 1 };
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
    if (at > lastOr) mood.isNegated = false;
    mood.isTooMuch = false;
    mood.strength = 1;
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
    mood.isNegated = !(word === "not" && ONLY.has(next));
    return PAIRS.has(`${word} ${next}`) || ONLY.has(next) ? 2 : 1;
  }
  if (TURNS.has(word) || (word === "and" && VERBS.has(next))) mood.isNegated = false;
  else if (TOO_MUCH.has(word)) mood.isTooMuch = true;
  else if (STRENGTHS.has(word)) mood.strength = STRENGTHS.get(word)!;
  else if (!isFiller(word) && !mood.isNegated) unfollowed.add(shown(word));
  return 1;
}

/** The longest of what is known that begins there. */
function phraseAt(words: readonly string[], at: number): { meaning: Meaning; count: number } | null {
  for (const count of [3, 2, 1]) {
    const meaning = at + count > words.length ? null : meaningOf(words.slice(at, at + count).join(" "));
    if (meaning !== null) return { meaning, count };
  }
  return null;
}

/** "High energy", "a low voice", "the volume down". */
function amountAt(words: readonly string[], at: number): { meaning: Meaning; count: number } | null {
  const amount = AMOUNTS.get(words[at]!);
  if (amount === undefined) return null;
  // "Less fast a pace" is about fast.
  const nearby = COMPARING.has(words[at]!) ? [at + 1] : [at + 1, at - 1, at + 2, at - 2];
  for (const near of nearby) {
    const isApart = words[near] === "," || words[(near + at) >> 1] === ",";
    const pair = isApart ? undefined : DIMENSIONS.get(words[near] ?? "");
    if (pair !== undefined)
      return { meaning: { trait: pair[amount], strength: 1, isAllOfIt: true }, count: 1 };
  }
  if (!PITCHES.has(words[at]!)) return null;
  return { meaning: { trait: amount === 0 ? "lower" : "higher", strength: 1, isAllOfIt: true }, count: 1 };
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
  if (wanted > (asked.get(trait) ?? 0)) asked.set(trait, wanted);
}

function mannerIn(asked: ReadonlyMap<Trait, number>): Manner {
  const sum = { tempo: 0, pitch: 0, range: 0, pause: 0, levelDb: 0 };
  for (const [trait, strength] of asked) {
    const { levelDb = 0, ...factors }: Partial<Manner> = TRAITS[trait].figures;
    sum.levelDb += strength * levelDb;
    for (const [name, factor] of Object.entries(factors) as [keyof Omit<Manner, "levelDb">, number][])
      sum[name] += strength * Math.log(factor);
  }
  const factor = (name: keyof typeof BOUNDS) => within(Math.exp(sum[name]), BOUNDS[name]);
  return {
    tempo: factor("tempo"),
    pitch: factor("pitch"),
    range: factor("range"),
    pause: factor("pause"),
    levelDb: within(sum.levelDb, BOUNDS.levelDb),
  };
}

/** However much is asked for, and of whatever at once. */
export const BOUNDS = {
  tempo: [0.75, 1.25],
  pitch: [0.84, 1.19],
  range: [0.5, 1.6],
  pause: [0.6, 1.6],
  levelDb: [-9, 5],
} as const;

function within(value: number, [min, max]: readonly [number, number]): number {
  return Math.min(max, Math.max(min, value));
}

function told(trait: Trait, strength: number): string {
  if (strength < 0.75) return `slightly ${trait}`;
  if (strength > 1.25) return `${trait.endsWith("er") ? "much" : "very"} ${trait}`;
  return trait;
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

function isNegation(word: string, next: string): boolean {
  return NEGATIONS.has(word) || word.endsWith("n't") || PAIRS.has(`${word} ${next}`);
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(" "));
const NEGATIONS = setOf("not no never dont cannot without avoid nor neither stop");
const PAIRS: ReadonlySet<string> = new Set(["rather than", "instead of", "anything but"]);
const COMPARING = setOf("more less");
/** Of "not only calm". */
const ONLY = setOf("only just merely");
/** What is not wanted ends there. */
const TURNS = setOf("but instead however yet");
const VERBS = setOf("speak talk say read sound keep stay be use make remain deliver");
const TOO_MUCH = setOf("too less overly excessively");
const STRENGTHS: ReadonlyMap<string, number> = new Map([
  ..."slightly bit little somewhat mildly touch subtly".split(" ").map((word) => [word, 0.5] as const),
  ..."very really extremely super highly much incredibly absolutely especially"
    .split(" ")
    .map((word) => [word, 1.6] as const),
]);
