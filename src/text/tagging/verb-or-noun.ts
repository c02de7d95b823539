import {
  hasOtherVerb,
  hasTag,
  hasTagOrEnds,
  hasWord,
  isInfinitive,
  isVerb,
  type TaggedWords,
} from "./word-context.ts";

const SUBJECT = /^(?:i|you|we|they|he|she)$/;
const OPENS = /^["“‘'([]$/;
const AFTER_NOUN = /^(?:DT|PRP\$|JJ|POS)$/;
const AFTER_COMMAND = /^(?:DT|PRP|PRP\$)$/;
const ALONE_NO_NOUN = /^(?:please|kindly|always|never)$/;
const AFTER_PLEASE = /^(?:DT|PRP|PRP\$|NN|NNS|JJ|CD)$/;
const NEEDS_NO_ARTICLE =
  /^(?:abuse|conduct|conflict|content|contrast|misuse|produce|progress|protest|refuse|research|reuse|transport|use)$/;
const TAKES_TO = /^(?:subject|due|according|prior|close|similar|related|access)$/;
const MAX_WORDS_BETWEEN = 6;

/** "would ever object" */
function isSureInfinitive(sentence: TaggedWords, at: number): boolean {
  return (
    isInfinitive(sentence, at) && (!hasTag(sentence, at - 1, AFTER_NOUN) || endsAfterThese(sentence, at))
  );
}

function endsAfterThese(sentence: TaggedWords, at: number): boolean {
  return hasWord(sentence, at - 1, /^(?:these|those)$/) && hasTagOrEnds(sentence, at + 1, /^(?:[.,:]|IN)$/);
}

/** "F5 to refresh.", "to convict the man", where the tagger takes "to" for a preposition. */
function isAfterTo(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  if (words[at - 1] !== "to" || tags[at] !== "NN") return false;
  if (hasWord(sentence, at, NEEDS_NO_ARTICLE) || hasWord(sentence, at - 2, TAKES_TO)) return false;
  if (words.slice(Math.max(0, at - MAX_WORDS_BETWEEN), at).includes("from")) return false;
  return hasTagOrEnds(sentence, at + 1, /^[.,:]$/) || isObject(sentence, at + 1);
}

/** "Record the show", "Please polish it" */
function isCommand(sentence: TaggedWords, at: number): boolean {
  const before = sentence.words[at - 1];
  const begins = before === undefined || /^(?:please|kindly|then|always|never|["“,])$/.test(before);
  const object = hasWord(sentence, at - 1, ALONE_NO_NOUN) ? AFTER_PLEASE : AFTER_COMMAND;
  return begins && hasTag(sentence, at + 1, object) && !hasOtherVerb(sentence, at);
}

/** "Convert miles to kilometers.", "Rewind thirty seconds." */
function isBareCommand(sentence: TaggedWords, at: number): boolean {
  if (at > 0 && !hasWord(sentence, at - 1, OPENS)) return false;
  return hasTag(sentence, at + 1, /^(?:NNS|CD|JJ|RB)$/) && !hasOtherVerb(sentence, at);
}

/** "Speak up and project your voice" */
function isSecondCommand(sentence: TaggedWords, at: number): boolean {
  if (!hasWord(sentence, at - 1, /^(?:and|or)$/) || !isObject(sentence, at + 1)) return false;
  return hasBaseVerbBefore(sentence, at);
}

function hasBaseVerbBefore(sentence: TaggedWords, at: number): boolean {
  for (let before = at - 1; before >= 0 && !hasTag(sentence, before, /^[.,:]$/); before--) {
    if (sentence.tags[before] === "VB") return true;
  }
  return false;
}

/** Returns whether an article or an object pronoun begins an object. */
function isObject(sentence: TaggedWords, at: number): boolean {
  return hasTag(sentence, at, AFTER_COMMAND) && !hasWord(sentence, at, SUBJECT);
}

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

/** "at the close.", "the bow snapped" */
function isHeadNoun(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  if (!hasWord(sentence, at - 1, HEADS) && !hasTag(sentence, at - 1, /^(?:PRP\$|POS)$/)) return false;
  if (hasTag(sentence, at, /^NN/)) return false;
  if (hasTag(sentence, at, /^(?:JJ|VBG)/) && /(?:ed|ing)$/.test(words[at] ?? "")) return false;
  return tags[at + 1] === undefined || hasTag(sentence, at + 1, AFTER_HEAD);
}

/** "the produce", "in use", "collects refuse" */
function isNoun(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  const before = words[at - 1];
  if (before === undefined || before === "to" || isInfinitive(sentence, at)) return false;
  const tagBefore = tags[at - 1];
  if (MAKES_NOUN.test(before) || tagBefore === "POS") return true;
  if (tagBefore === "IN") return before !== "that" && before !== "as" && before !== "than";
  // "She issues permits": the tagger often takes a verb for a plural noun.
  const isThird = tagBefore === "NNS" && hasWord(sentence, at - 2, /^(?:he|she|it)$/);
  return (isThird || tagBefore === "VBZ" || tagBefore === "VBD") && !TAKES_INFINITIVE.test(before);
}

/** "Check the city permits on file." */
function isCommanded(sentence: TaggedWords, at: number): boolean {
  if (sentence.tags[0] !== "VB" || hasWord(sentence, 0, TAKES_CLAUSE)) return false;
  if (!hasTagOrEnds(sentence, at + 1, /^(?:[.,:]|IN|CC)$/)) return false;
  let start = at - 1;
  while (start > 1 && hasTag(sentence, start, /^(?:NN|NNP|JJ)$/)) start--;
  return start === 1 && start < at - 1 && hasTag(sentence, 1, /^(?:DT|PRP\$)$/);
}

/** "Keep your friends close.", "Keep the two piles separate from …" */
function isObjectComplement(sentence: TaggedWords, at: number): boolean {
  if (!hasTagOrEnds(sentence, at + 1, /^(?:[.,:]|-RRB-|CC|IN|TO)$/)) return false;
  let before = at - 1;
  if (!hasTag(sentence, before, /^(?:NNS?|NNPS?|PRP|CD)$/)) return false;
  while (at - before < MAX_OBJECT_WORDS && hasTag(sentence, before, OBJECT)) before--;
  return before < at - 1 && hasWord(sentence, before, KEEPS);
}

const PLURAL_SUBJECT = /^(?:i|we|they|you|who)$/;
const AFTER_VERB = /^(?:DT|PRP|PRP\$|IN|TO|RB|RBR|JJ|JJR|NN|NNS|NNP|NNPS|CD|WRB|WP|RP|,|CC)$/;
const BEFORE_CLAUSE = /^(?:if|when|as|while|until|unless|once|because|that)$/;

/** "Analysts project growth", "The two dates conflict" */
function isPluralVerb(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  let subject = at - 1;
  while (subject > 0 && tags[subject] === "RB") subject--;
  const isPronoun = hasWord(sentence, subject, PLURAL_SUBJECT);
  // A first word that is capitalised only because it begins the sentence.
  const isPluralName = subject === 0 && tags[0] === "NNP" && hasWord(sentence, 0, /[^s]s$/);
  const isPlural = hasTag(sentence, subject, /^NNP?S$/) || isPluralName;
  if (!isPronoun && !isPlural) return false;
  const next = words[at + 1] === "that" ? "IN" : tags[at + 1];
  const ends = next === undefined || next === ".";
  if (ends ? !isPronoun && !startsWithDeterminer(sentence, subject) : !AFTER_VERB.test(next)) return false;
  return words[subject] === "who" || !hasOtherVerb(sentence, at);
}

/** "The factory exports cars", "The firm projects revenue of …" */
function isThirdPerson(sentence: TaggedWords, at: number): boolean {
  if (sentence.tags[at] !== "NNS" || !hasTag(sentence, at - 1, /^(?:NN|NNP)$/)) return false;
  const hasObject = hasTag(sentence, at + 1, /^(?:NN|JJ)$/)
    ? startsWithDeterminer(sentence, at - 1)
    : hasTag(sentence, at + 1, /^(?:DT|PRP|PRP\$|NNS|NNP|CD)$/);
  return (hasObject || isFirstSubject(sentence, at - 1)) && !hasOtherVerb(sentence, at);
}

/** "The two dates …", unlike the heading "Sales contract." */
function startsWithDeterminer(sentence: TaggedWords, end: number): boolean {
  for (let at = end; at >= 0; at--) {
    if (hasTag(sentence, at, /^(?:DT|PRP\$)$/)) return true;
    if (!hasTag(sentence, at, /^(?:NN|NNS|NNP|JJ|CD|VBG)$/)) return false;
  }
  return false;
}

/** "The trial proceeds on Monday.", "If time permits, …" */
function isFirstSubject(sentence: TaggedWords, end: number): boolean {
  const { tags } = sentence;
  if (!hasTagOrEnds(sentence, end + 2, /^(?:[.,:]|IN|RB|TO)$/) || isInList(sentence, end + 1)) return false;
  let at = end;
  while (at > 0 && hasTag(sentence, at, /^(?:NN|NNP|JJ)$/)) at--;
  return tags[at] === "DT"
    ? at === 0 || hasWord(sentence, at - 1, BEFORE_CLAUSE)
    : hasWord(sentence, at, BEFORE_CLAUSE);
}

/** "If class projects, tests and homework pile up, …" */
function isInList(sentence: TaggedWords, at: number): boolean {
  if (sentence.tags[at + 1] !== "," || !hasTag(sentence, at + 2, /^NNS?$/)) return false;
  return hasTag(sentence, at + 3, /^(?:CC|,)$/) && sentence.tags.indexOf(",", at + 4) > 0;
}

/**
 * Returns the tag of a word that may be verb or noun, if the context leaves no doubt; else the tagger's. The tagger
 * mostly misses verbs whose noun is more frequent ("Parents object when …").
 *
 * @param isVerbElse whether the dictionary reads the word as a verb unless it is a noun ("insert", "convert")
 */
export function settledTag(sentence: TaggedWords, at: number, isVerbElse: boolean): string {
  const tag = sentence.tags[at] ?? "NN";
  const hasS = /(?:^|[^s])s$/.test(sentence.words[at] ?? "");
  const noun = hasS ? "NNS" : "NN";
  if (isHeadNoun(sentence, at)) return noun;
  if (isObjectComplement(sentence, at)) return isVerb(tag) ? "JJ" : tag;
  if (isVerb(tag)) {
    const isWronglyVerb = /^VB[PZ]?$/.test(tag) && isNoun(sentence, at);
    return isWronglyVerb || (hasS && isCommanded(sentence, at)) ? noun : tag;
  }
  if (hasS) return isThirdPerson(sentence, at) ? "VBZ" : tag;
  if (
    isSureInfinitive(sentence, at) ||
    isAfterTo(sentence, at) ||
    isSecondCommand(sentence, at) ||
    isCommand(sentence, at) ||
    (isVerbElse && isBareCommand(sentence, at))
  )
    return "VB";
  const isModifier = tag === "JJ" || tag === "RB";
  if (!(isModifier && hasBaseVerbBefore(sentence, at)) && isPluralVerb(sentence, at)) return "VBP";
  return isModifier && isVerbElse ? "NN" : tag;
}
