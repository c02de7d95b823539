import { hasTag, hasTagOrEnds, hasWord, isInfinitive, type TaggedWords } from "./word-context.ts";

const MAKES_NOUN = /^(?:the|a|an|my|your|his|its|our|their|this|each|every|no)$/;
const TAKES_INFINITIVE =
  /^(?:helps?|helped|lets?|makes?|have|watch(?:es|ed)?|sees?|hears?|heard|feels?|dared?|dares|go(?:es)?|comes?|do(?:es)?|is|am|are|was|were|gets?)$/;
const HEADS = /^(?:the|a|an)$/;
const AFTER_HEAD = /^(?:[.,:]|-RRB-|MD|VBZ|VBD|IN)$/;
const KEEPS =
  /^(?:keep|keeps|kept|keeping|hold|holds|held|holding|bring|brings|brought|pull|pulled|drew|store|stored)$/;
const OBJECT = /^(?:DT|PRP\$|PRP|JJ|NN|NNS|NNP|NNPS|CD|CC)$/;
const MAX_OBJECT_WORDS = 6;
const TAKES_CLAUSE =
  /^(?:ensure|assume|hope|say|think|know|suppose|imagine|pretend|see|make|let|watch|wait)$/;

/** "at the close.", "the bow snapped": a determiner before, and nothing after that it could belong to. */
export function isHeadNoun(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  if (!hasWord(sentence, at - 1, HEADS) && !hasTag(sentence, at - 1, /^(?:PRP\$|POS)$/)) return false;
  if (hasTag(sentence, at, /^NN/)) return false;
  if (hasTag(sentence, at, /^(?:JJ|VBG)/) && /(?:ed|ing)$/.test(words[at] ?? "")) return false;
  return tags[at + 1] === undefined || hasTag(sentence, at + 1, AFTER_HEAD);
}

/** "the produce", "in use", "collects refuse": no verb can stand there. */
export function isNoun(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  const before = words[at - 1];
  if (before === undefined || before === "to" || isInfinitive(sentence, at)) return false;
  const tagBefore = tags[at - 1];
  if (MAKES_NOUN.test(before) || tagBefore === "POS") return true;
  if (tagBefore === "IN") return before !== "that" && before !== "as" && before !== "than";
  // "She issues permits": the tagger takes many a verb for the plural of its noun.
  const isThird = tagBefore === "NNS" && hasWord(sentence, at - 2, /^(?:he|she|it)$/);
  return (isThird || tagBefore === "VBZ" || tagBefore === "VBD") && !TAKES_INFINITIVE.test(before);
}

/** "Check the city permits on file.": the end of a command's object, with nothing after that a verb would have. */
export function isCommanded(sentence: TaggedWords, at: number): boolean {
  if (sentence.tags[0] !== "VB" || hasWord(sentence, 0, TAKES_CLAUSE)) return false;
  if (!hasTagOrEnds(sentence, at + 1, /^(?:[.,:]|IN|CC)$/)) return false;
  let start = at - 1;
  while (start > 1 && hasTag(sentence, start, /^(?:NN|NNP|JJ)$/)) start--;
  return start === 1 && start < at - 1 && hasTag(sentence, 1, /^(?:DT|PRP\$)$/);
}

/** "Keep your friends close.", "Keep the two piles separate from …": what the object is to be. */
export function isObjectComplement(sentence: TaggedWords, at: number): boolean {
  if (!hasTagOrEnds(sentence, at + 1, /^(?:[.,:]|-RRB-|CC|IN|TO)$/)) return false;
  let before = at - 1;
  if (!hasTag(sentence, before, /^(?:NNS?|NNPS?|PRP|CD)$/)) return false;
  while (at - before < MAX_OBJECT_WORDS && hasTag(sentence, before, OBJECT)) before--;
  return before < at - 1 && hasWord(sentence, before, KEEPS);
}
