import { wordSet } from "../characters.ts";
/** Words in lower case with straight apostrophes, and their Penn Treebank tags. */
export interface TaggedWords {
  readonly words: readonly string[];
  readonly tags: readonly string[];
}

const MODALS = wordSet("will would can could may might must shall should 'll wo ca sha");
const BEFORE_BARE_VERB = wordSet("cannot gonna please");
const DO = wordSet("do does did");
const HAVE = wordSet("have has had having 've");
const BE = wordSet("am is are was were be been being 'm 're get gets got getting gotten");
const CAUSES = wordSet("let make makes made help helps helped hear heard watch watched");
const BETWEEN = wordSet("n't not all both each just never ever already");
const SUBJECTS = wordSet(
  "anyone anybody everyone everybody someone somebody nobody nothing anything everything something",
);
const OBJECT_OR_SUBJECT = /^(?:PRP|NNP)$/;
const NOUN_PHRASE = /^(?:DT|PRP\$|JJ|JJR|JJS|NN|NNS|NNP|NNPS|CD|POS)$/;
const FINITE = /^(?:VBZ|VBP|VBD|MD)$/;
const CLAUSE_EDGE = /^(?:[,.:;]|-LRB-|-RRB-|WRB|WP|WDT)$/;
const SUBORDINATES = wordSet("that because if while although since though unless until as");
const MAX_SUBJECT_WORDS = 4;

/** Returns whether a bare verb is expected: after "to", "please", an auxiliary, or an auxiliary and its subject. */
export function isInfinitive(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  const before = beforeAdverbs(sentence, at);
  const word = words[before];
  if (word === undefined) return false;
  if (tags[before] === "TO") return true;
  if (word === "'d") return tags[before] === "MD";
  if (BEFORE_BARE_VERB.has(word) || (MODALS.has(word) && tags[before] !== "NN")) return true;
  if (DO.has(word)) return before < at - 1 || isVerb(tags[at]);
  if (word === "'s") return words[before - 1] === "let";
  if (tags[before] === "PRP" && CAUSES.has(words[before - 1] ?? "")) return true;
  return auxiliaryOf(sentence, before, (auxiliary) => MODALS.has(auxiliary) || DO.has(auxiliary));
}

/** Returns whether a participle is expected: after "have", possibly with a subject or adverbs between. */
export function isPerfect(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  const before = beforeAdverbs(sentence, at);
  const word = words[before];
  if (word === undefined) return false;
  if (HAVE.has(word)) return true;
  if (word === "'s") return tags[before - 1] === "PRP" && /^VB[DN]$/.test(tags[at] ?? "");
  if (word === "'d") return tags[before] !== "MD";
  return auxiliaryOf(sentence, before, (auxiliary) => HAVE.has(auxiliary));
}

export function isPassive(sentence: TaggedWords, at: number): boolean {
  return BE.has(sentence.words[beforeAdverbs(sentence, at)] ?? "");
}

/** Returns whether the clause has another finite verb. */
export function hasOtherVerb({ words, tags }: TaggedWords, at: number): boolean {
  const isEdge = (i: number): boolean =>
    CLAUSE_EDGE.test(tags[i] ?? "") || SUBORDINATES.has(words[i] ?? "") || words[i] === "—";
  for (let i = at - 1; i >= 0 && !isEdge(i); i--) if (FINITE.test(tags[i] ?? "")) return true;
  for (let i = at + 1; i < tags.length && !isEdge(i) && tags[i] !== "CC"; i++) {
    if (FINITE.test(tags[i] ?? "")) return true;
  }
  return false;
}

export function isVerb(tag: string | undefined): boolean {
  return tag?.startsWith("VB") === true;
}

export function hasTag({ tags }: TaggedWords, at: number, pattern: RegExp): boolean {
  return pattern.test(tags[at] ?? "");
}

/** Like {@link hasTag}, with the end of the sentence as a full stop. */
export function hasTagOrEnds({ tags }: TaggedWords, at: number, pattern: RegExp): boolean {
  return pattern.test(tags[at] ?? ".");
}

export function hasWord({ words }: TaggedWords, at: number, pattern: RegExp): boolean {
  return pattern.test(words[at] ?? "");
}

/** Skips adverbs and "not" to the left. */
function beforeAdverbs({ words, tags }: TaggedWords, at: number): number {
  let before = at - 1;
  while (before >= 0 && (tags[before] === "RB" || BETWEEN.has(words[before] ?? ""))) before--;
  return before;
}

/** Returns whether an inverted subject ends here: "would anyone", "did the old lady". */
function auxiliaryOf(
  { words, tags }: TaggedWords,
  end: number,
  isAuxiliary: (word: string) => boolean,
): boolean {
  const auxiliaryAt = (at: number): boolean =>
    isAuxiliary(words[at] ?? "") || (words[at] === "n't" && isAuxiliary(words[at - 1] ?? ""));
  if (OBJECT_OR_SUBJECT.test(tags[end] ?? "") || SUBJECTS.has(words[end] ?? "")) return auxiliaryAt(end - 1);
  if (/^(?:PRP\$|POS|JJ[RS]?)$/.test(tags[end] ?? "") || /^(?:the|a|an|no|every)$/.test(words[end] ?? ""))
    return false;
  let start = end;
  while (end - start < MAX_SUBJECT_WORDS && NOUN_PHRASE.test(tags[start] ?? "")) start--;
  return start < end && auxiliaryAt(start) && opens({ words, tags }, start);
}

function opens({ words, tags }: TaggedWords, at: number): boolean {
  if (at <= 0) return at === 0;
  const before = words[at] === "n't" ? at - 2 : at - 1;
  return before < 0 || /^(?:W.*|CC|[,:]|``)$/.test(tags[before] ?? "");
}
