import {
  hasOtherVerb,
  hasTag,
  hasTagOrEnds,
  hasWord,
  isInfinitive,
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
/** How many words before "to" a "from" is looked for. */
const MAX_WORDS_BETWEEN = 6;

/** "would ever object": an auxiliary before, and no noun phrase that the word would end. */
export function isSureInfinitive(sentence: TaggedWords, at: number): boolean {
  return (
    isInfinitive(sentence, at) && (!hasTag(sentence, at - 1, AFTER_NOUN) || endsAfterThese(sentence, at))
  );
}

/** "Do these conflict?" */
function endsAfterThese(sentence: TaggedWords, at: number): boolean {
  return hasWord(sentence, at - 1, /^(?:these|those)$/) && hasTagOrEnds(sentence, at + 1, /^(?:[.,:]|IN)$/);
}

/** "F5 to refresh.", "to convict the man", where the tagger takes "to" for a preposition: no article, so no noun. */
export function isAfterTo(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  if (words[at - 1] !== "to" || tags[at] !== "NN") return false;
  if (hasWord(sentence, at, NEEDS_NO_ARTICLE) || hasWord(sentence, at - 2, TAKES_TO)) return false;
  if (words.slice(Math.max(0, at - MAX_WORDS_BETWEEN), at).includes("from")) return false;
  return hasTagOrEnds(sentence, at + 1, /^[.,:]$/) || isObject(sentence, at + 1);
}

/** "Record the show", "Please polish it": the first word, or the one after "please" or "and", before an object. */
export function isCommand(sentence: TaggedWords, at: number): boolean {
  const before = sentence.words[at - 1];
  const begins = before === undefined || /^(?:please|kindly|then|always|never|["“,])$/.test(before);
  const object = hasWord(sentence, at - 1, ALONE_NO_NOUN) ? AFTER_PLEASE : AFTER_COMMAND;
  return begins && hasTag(sentence, at + 1, object) && !hasOtherVerb(sentence, at);
}

/** "Convert miles to kilometers.", "Rewind thirty seconds.": a sentence without another verb. */
export function isBareCommand(sentence: TaggedWords, at: number): boolean {
  if (at > 0 && !hasWord(sentence, at - 1, OPENS)) return false;
  return hasTag(sentence, at + 1, /^(?:NNS|CD|JJ|RB)$/) && !hasOtherVerb(sentence, at);
}

/** "Speak up and project your voice": a verb before, an object after. */
export function isSecondCommand(sentence: TaggedWords, at: number): boolean {
  if (!hasWord(sentence, at - 1, /^(?:and|or)$/) || !isObject(sentence, at + 1)) return false;
  return hasBaseVerbBefore(sentence, at);
}

/** Whether a command or an infinitive stands before in the clause. */
export function hasBaseVerbBefore(sentence: TaggedWords, at: number): boolean {
  for (let before = at - 1; before >= 0 && !hasTag(sentence, before, /^[.,:]$/); before--) {
    if (sentence.tags[before] === "VB") return true;
  }
  return false;
}

/** Whether an object begins at a place: an article, or a pronoun that is no subject. */
function isObject(sentence: TaggedWords, at: number): boolean {
  return hasTag(sentence, at, AFTER_COMMAND) && !hasWord(sentence, at, SUBJECT);
}
