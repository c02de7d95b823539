import { hasOtherVerb, hasTag, hasTagOrEnds, hasWord, type TaggedWords } from "./word-context.ts";

const PLURAL_SUBJECT = /^(?:i|we|they|you|who)$/;
const AFTER_VERB = /^(?:DT|PRP|PRP\$|IN|TO|RB|RBR|JJ|JJR|NN|NNS|NNP|NNPS|CD|WRB|WP|RP|,|CC)$/;
const BEFORE_CLAUSE = /^(?:if|when|as|while|until|unless|once|because|that)$/;

/** "Analysts project growth", "The two dates conflict": a plural subject has no other verb. */
export function isPluralVerb(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  let subject = at - 1;
  while (subject > 0 && tags[subject] === "RB") subject--;
  const isPronoun = hasWord(sentence, subject, PLURAL_SUBJECT);
  const isPlural = hasTag(sentence, subject, /^NNP?S$/) || isPluralName(sentence, subject);
  if (!isPronoun && !isPlural) return false;
  const next = words[at + 1] === "that" ? "IN" : tags[at + 1];
  const ends = next === undefined || next === ".";
  if (ends ? !isPronoun && !startsWithDeterminer(sentence, subject) : !AFTER_VERB.test(next)) return false;
  return words[subject] === "who" || !hasOtherVerb(sentence, at);
}

/** "The factory exports cars", "The firm projects revenue of …": a subject of one, an object, and no other verb. */
export function isThirdPerson(sentence: TaggedWords, at: number): boolean {
  if (sentence.tags[at] !== "NNS" || !hasTag(sentence, at - 1, /^(?:NN|NNP)$/)) return false;
  const hasObject = hasTag(sentence, at + 1, /^(?:NN|JJ)$/)
    ? startsWithDeterminer(sentence, at - 1)
    : hasTag(sentence, at + 1, /^(?:DT|PRP|PRP\$|NNS|NNP|CD)$/);
  return (hasObject || isFirstSubject(sentence, at - 1)) && !hasOtherVerb(sentence, at);
}

/** A first word whose capital is the sentence's and not a name's. */
function isPluralName(sentence: TaggedWords, at: number): boolean {
  return at === 0 && sentence.tags[0] === "NNP" && hasWord(sentence, 0, /[^s]s$/);
}

/** "The two dates …", where "Sales contract." alone would be a heading. */
function startsWithDeterminer(sentence: TaggedWords, end: number): boolean {
  for (let at = end; at >= 0; at--) {
    if (hasTag(sentence, at, /^(?:DT|PRP\$)$/)) return true;
    if (!hasTag(sentence, at, /^(?:NN|NNS|NNP|JJ|CD|VBG)$/)) return false;
  }
  return false;
}

/** "The trial proceeds on Monday.", "If time permits, …": a subject of one that begins its clause. */
function isFirstSubject(sentence: TaggedWords, end: number): boolean {
  const { tags } = sentence;
  if (!hasTagOrEnds(sentence, end + 2, /^(?:[.,:]|IN|RB|TO)$/) || isInList(sentence, end + 1)) return false;
  let at = end;
  while (at > 0 && hasTag(sentence, at, /^(?:NN|NNP|JJ)$/)) at--;
  return tags[at] === "DT"
    ? at === 0 || hasWord(sentence, at - 1, BEFORE_CLAUSE)
    : hasWord(sentence, at, BEFORE_CLAUSE);
}

/** "If class projects, tests and homework pile up, …": a list, and the end of its clause after it. */
function isInList(sentence: TaggedWords, at: number): boolean {
  if (sentence.tags[at + 1] !== "," || !hasTag(sentence, at + 2, /^NNS?$/)) return false;
  return hasTag(sentence, at + 3, /^(?:CC|,)$/) && sentence.tags.indexOf(",", at + 4) > 0;
}
