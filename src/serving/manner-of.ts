import type { AskedManner, Manner } from "../model/manner.ts";
import { FILLERS } from "./manner-fillers.ts";
import {
  AMOUNTS,
  DIMENSIONS,
  type Dimension,
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
  const plain = text
    .replaceAll(/[’‘ʼ´`]/g, "'")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase();
  for (const [part] of plain.matchAll(/\p{L}+(?:'\p{L}+)*|[,.;:!?\n]/gu)) {
    // A colon stands behind what it is about: "Pace: slow". Of "avoid: rushing, shouting" all of it is.
    if (part === ":" && !isNegation(sentences.at(-1)!.at(-1) ?? "", "")) continue;
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
  /** A verb ends what is not wanted: "instead of shouting speak calmly". */
  endsAtVerb: boolean;
  /** A list of what is not wanted goes on behind its commas. */
  isList: boolean;
  /** "Rather" was said: what is behind "than" is not wanted. */
  isRather: boolean;
  /** What was wished for last, and how it was asked for before: "slow it down a bit". */
  last: { readonly trait: Trait; readonly strength: number; readonly before: number } | null;
}

function readSentence(words: readonly string[], asked: Map<Trait, number>, unfollowed: Set<string>): void {
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
  const pair = dimensionNear(words, at);
  if (pair !== null) return { meaning: { trait: pair[amount], strength: 1, isAllOfIt: true }, count: 1 };
  if (!PITCHES.has(words[at]!)) return null;
  return { meaning: { trait: amount === 0 ? "lower" : "higher", strength: 1, isAllOfIt: true }, count: 1 };
}

/** What there is much or little of by the amount there. */
function dimensionNear(words: readonly string[], at: number): Dimension | null {
  const pitch = DIMENSIONS.get("pitch");
  // "Less fast a pace" is about fast.
  const isOnward = ONWARD.has(words[at]!);
  const onward = words[at + 1] === "of" ? at + 2 : at + 1;
  for (const near of isOnward ? [onward] : [at + 1, at - 1, at + 2, at - 2]) {
    const isApart = words[near] === "," || words[(near + at) >> 1] === ",";
    const found = isApart ? undefined : DIMENSIONS.get(words[near] ?? "");
    if (found === undefined) continue;
    // "Pitch variation" is variation, and an "energy voice" none of pitch.
    const whole = near > at ? DIMENSIONS.get(words[near + 1] ?? "") : undefined;
    return whole === undefined || whole === pitch ? found : whole;
  }
  if (isOnward) return null;
  // "The volume is much too low."
  let before = at - 1;
  while (before > at - MAX_LINKING && LINKING.has(words[before] ?? "")) before -= 1;
  return DIMENSIONS.get(words[before] ?? "") ?? null;
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

/** "No no no, slower", "why don't you slow down?", "can't you speak up?", "not loud enough". */
function isWishAnyway(words: readonly string[], at: number): boolean {
  const [before, word, next] = [words[at - 1], words[at]!, words[at + 1]];
  if (word === "no") return before === "no" || next === "no";
  if (word === "not" && words.slice(at + 1, at + 4).includes("enough")) return true;
  return before === "why" || (ASKING.has(word) && next === "you");
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(" "));
const NEGATIONS = setOf(
  "not no never nothing dont cannot without avoid refrain nor neither stop hardly barely scarcely",
);
const PAIRS: ReadonlySet<string> = new Set(["rather than", "instead of", "anything but"]);
const BEFORE_GERUNDS = setOf("without instead");
/** Of "don't be afraid to be loud". */
const FEARS = setOf("afraid hesitate shy");
const ASKING = setOf("can't won't couldn't wouldn't");
/** Amounts of what comes behind them. */
const ONWARD = setOf("more less much enough lot");
const LINKING = setOf("is are was a bit little far much way very so too");
const MAX_LINKING = 6;
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
