import { hasOtherVerb, isInfinitive, isVerb, type TaggedWords } from "./word-context.ts";

const MAKES_NOUN = /^(?:the|a|an|my|your|his|its|our|their|this|each|every|no)$/;
const TAKES_INFINITIVE =
  /^(?:helps?|helped|lets?|makes?|have|watch(?:es|ed)?|sees?|hears?|heard|feels?|dared?|dares|go(?:es)?|comes?|do(?:es)?|is|am|are|was|were|gets?)$/;
const PLURAL_SUBJECT = /^(?:i|we|they|you|who)$/;
const AFTER_VERB = /^(?:DT|PRP|PRP\$|IN|TO|RB|RBR|JJ|JJR|NN|NNS|NNP|NNPS|CD|WRB|WP|RP|,|CC)$/;
const HEADS = /^(?:the|a|an)$/;
const AFTER_HEAD = /^(?:[.,:]|-RRB-|MD|VBZ|VBD|IN)$/;
const KEEPS =
  /^(?:keep|keeps|kept|keeping|hold|holds|held|holding|bring|brings|brought|pull|pulled|drew|store|stored)$/;
const OBJECT = /^(?:DT|PRP\$|PRP|JJ|NN|NNS|NNP|NNPS|CD|CC)$/;
const LONGEST_OBJECT = 6;
const NEEDS_NO_ARTICLE =
  /^(?:abuse|conduct|conflict|content|contrast|misuse|produce|progress|protest|refuse|research|reuse|transport|use)$/;
const TAKES_TO = /^(?:subject|due|according|prior|close|similar|related|access)$/;
const TAKES_CLAUSE =
  /^(?:ensure|assume|hope|say|think|know|suppose|imagine|pretend|see|make|let|watch|wait)$/;
const BEFORE_CLAUSE = /^(?:if|when|as|while|until|unless|once|because|that)$/;
const SUBJECT = /^(?:i|you|we|they|he|she)$/;
const OPENS = /^["“‘'([]$/;
const AFTER_COMMAND = /^(?:DT|PRP|PRP\$)$/;
const ALONE_NO_NOUN = /^(?:please|kindly|always|never)$/;
const AFTER_PLEASE = /^(?:DT|PRP|PRP\$|NN|NNS|JJ|CD)$/;

/**
 * The part of speech of a word that may be verb or noun, where the words around leave no doubt; else the tagger's own.
 * The tagger knows most; what it gets wrong are chiefly verbs whose noun is more frequent ("Parents object when …").
 *
 * @param isVerbElse whether the dictionary reads the word as a verb wherever it is no noun ("insert", "convert")
 */
export function settledTag(sentence: TaggedWords, at: number, isVerbElse: boolean): string {
  const { words, tags } = sentence;
  const tag = tags[at] ?? "NN";
  const word = words[at] ?? "";
  const isThird = word.endsWith("s") && !word.endsWith("ss");
  if (isHeadNoun(sentence, at)) return nounTag(isThird);
  if (isObjectComplement(sentence, at)) return isVerb(tag) ? "JJ" : tag;
  if (isVerb(tag)) {
    const isNamed = (isThirdOrBase(tag) && isNoun(sentence, at)) || (isThird && isCommanded(sentence, at));
    return isNamed ? nounTag(isThird) : tag;
  }
  if (isThird) return isThirdPerson(sentence, at) ? "VBZ" : tag;
  if (isInfinitive(sentence, at) && (!AFTER_NOUN.test(tags[at - 1] ?? "") || endsAfterThese(sentence, at)))
    return "VB";
  if (isAfterTo(sentence, at) || isSecondCommand(sentence, at)) return "VB";
  if (isCommand(sentence, at) || (isVerbElse && isBareCommand(sentence, at))) return "VB";
  const isModifier = /^(?:JJ|RB)$/.test(tag);
  if (!(isModifier && hasBaseVerbBefore(sentence, at)) && isPluralVerb(sentence, at)) return "VBP";
  return isModifier && isVerbElse ? "NN" : tag;
}

const AFTER_NOUN = /^(?:DT|PRP\$|JJ|POS)$/;

/** "Do these conflict?" */
function endsAfterThese({ words, tags }: TaggedWords, at: number): boolean {
  return /^(?:these|those)$/.test(words[at - 1] ?? "") && /^(?:[.,:]|IN)$/.test(tags[at + 1] ?? ".");
}

function isThirdOrBase(tag: string): boolean {
  return tag === "VB" || tag === "VBP" || tag === "VBZ";
}

function nounTag(isPlural: boolean): string {
  return isPlural ? "NNS" : "NN";
}

/** "Check the city permits on file.": the end of a command's object, with nothing after that a verb would have. */
function isCommanded({ words, tags }: TaggedWords, at: number): boolean {
  if (tags[0] !== "VB" || TAKES_CLAUSE.test(words[0] ?? "") || !/^(?:[.,:]|IN|CC)$/.test(tags[at + 1] ?? "."))
    return false;
  let start = at - 1;
  while (start > 1 && /^(?:NN|NNP|JJ)$/.test(tags[start] ?? "")) start--;
  return start === 1 && start < at - 1 && /^(?:DT|PRP\$)$/.test(tags[1] ?? "");
}

/** "the produce", "in use", "collects refuse": no verb can stand there. */
function isNoun(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  const before = words[at - 1];
  if (before === undefined || before === "to" || isInfinitive(sentence, at)) return false;
  const tagBefore = tags[at - 1] ?? "";
  if (MAKES_NOUN.test(before) || tagBefore === "POS") return true;
  if (tagBefore === "IN") return before !== "that" && before !== "as" && before !== "than";
  // "She issues permits": the tagger takes many a verb for the plural of its noun.
  const isThird = tagBefore === "NNS" && /^(?:he|she|it)$/.test(words[at - 2] ?? "");
  return (isThird || tagBefore === "VBZ" || tagBefore === "VBD") && !TAKES_INFINITIVE.test(before);
}

/** "at the close.", "a moped on the island", "the bow snapped": a determiner before, and nothing after that it could belong to. */
function isHeadNoun({ words, tags }: TaggedWords, at: number): boolean {
  const tag = tags[at] ?? "";
  if (!HEADS.test(words[at - 1] ?? "") && tags[at - 1] !== "PRP$" && tags[at - 1] !== "POS") return false;
  if (tag.startsWith("NN") || (/^(?:JJ|VBG)/.test(tag) && /(?:ed|ing)$/.test(words[at] ?? ""))) return false;
  const next = tags[at + 1];
  return next === undefined || AFTER_HEAD.test(next);
}

/** "Keep your friends close.", "Keep the two piles separate from …": what the object is to be. */
function isObjectComplement({ words, tags }: TaggedWords, at: number): boolean {
  if (!/^(?:[.,:]|-RRB-|CC|IN|TO)$/.test(tags[at + 1] ?? ".")) return false;
  let before = at - 1;
  if (!/^(?:NNS?|NNPS?|PRP|CD)$/.test(tags[before] ?? "")) return false;
  while (at - before < LONGEST_OBJECT && OBJECT.test(tags[before] ?? "")) before--;
  return before < at - 1 && KEEPS.test(words[before] ?? "");
}

/** "F5 to refresh.", "jurors to convict the man", where the tagger takes "to" for a preposition: no article, so no noun. */
function isAfterTo({ words, tags }: TaggedWords, at: number): boolean {
  if (words[at - 1] !== "to" || tags[at] !== "NN") return false;
  if (NEEDS_NO_ARTICLE.test(words[at] ?? "") || TAKES_TO.test(words[at - 2] ?? "")) return false;
  if (words.slice(Math.max(0, at - LONGEST_OBJECT), at).includes("from")) return false;
  return /^[.,:]$/.test(tags[at + 1] ?? ".") || isObject({ words, tags }, at + 1);
}

/** Whether an object begins at a place: an article, or a pronoun that is no subject. */
function isObject({ words, tags }: TaggedWords, at: number): boolean {
  return AFTER_COMMAND.test(tags[at] ?? "") && !SUBJECT.test(words[at] ?? "");
}

/** "Convert miles to kilometers.", "Rewind thirty seconds.": a sentence without another verb. */
function isBareCommand(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  if (at > 0 && !OPENS.test(words[at - 1] ?? "")) return false;
  return /^(?:NNS|CD|JJ|RB)$/.test(tags[at + 1] ?? "") && !hasOtherVerb(sentence, at);
}

/** "Speak up and project your voice": a verb before, an object after. */
function isSecondCommand({ words, tags }: TaggedWords, at: number): boolean {
  if (!/^(?:and|or)$/.test(words[at - 1] ?? "") || !isObject({ words, tags }, at + 1)) return false;
  return hasBaseVerbBefore({ words, tags }, at);
}

/** Whether a command or an infinitive stands before in the clause. */
function hasBaseVerbBefore({ tags }: TaggedWords, at: number): boolean {
  for (let before = at - 1; before >= 0 && !/^[.,:]$/.test(tags[before] ?? ""); before--) {
    if (tags[before] === "VB") return true;
  }
  return false;
}

/** "Record the show", "Please polish it": the first word, or the one after "please" or "and", before an object. */
function isCommand(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  const before = words[at - 1];
  const begins = before === undefined || /^(?:please|kindly|then|always|never|["“,])$/.test(before);
  const object = before !== undefined && ALONE_NO_NOUN.test(before) ? AFTER_PLEASE : AFTER_COMMAND;
  return begins && object.test(tags[at + 1] ?? "") && !hasOtherVerb(sentence, at);
}

/** "Analysts project growth", "The two dates conflict": a plural subject has no other verb. */
function isPluralVerb(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  let subject = at - 1;
  while (subject > 0 && tags[subject] === "RB") subject--;
  const isPronoun = PLURAL_SUBJECT.test(words[subject] ?? "");
  const isPlural = /^NNP?S$/.test(tags[subject] ?? "") || isPluralName(sentence, subject);
  if (!isPronoun && !isPlural) return false;
  const next = words[at + 1] === "that" ? "IN" : tags[at + 1];
  const ends = next === undefined || next === ".";
  if (ends ? !isPronoun && !startsWithDeterminer(sentence, subject) : !AFTER_VERB.test(next)) return false;
  return words[subject] === "who" || !hasOtherVerb(sentence, at);
}

/** A first word whose capital is the sentence's and not a name's. */
function isPluralName({ words, tags }: TaggedWords, at: number): boolean {
  return at === 0 && tags[0] === "NNP" && /[^s]s$/.test(words[0] ?? "");
}

/** "The two dates …", where "Sales contract." alone would be a heading. */
function startsWithDeterminer({ tags }: TaggedWords, end: number): boolean {
  for (let at = end; at >= 0; at--) {
    if (/^(?:DT|PRP\$)$/.test(tags[at] ?? "")) return true;
    if (!/^(?:NN|NNS|NNP|JJ|CD|VBG)$/.test(tags[at] ?? "")) return false;
  }
  return false;
}

/** "The trial proceeds on Monday.", "If time permits, …": a subject of one that begins its clause. */
function isFirstSubject({ words, tags }: TaggedWords, end: number): boolean {
  if (!/^(?:[.,:]|IN|RB|TO)$/.test(tags[end + 2] ?? ".") || isInList(tags, end + 1)) return false;
  let at = end;
  while (at > 0 && /^(?:NN|NNP|JJ)$/.test(tags[at] ?? "")) at--;
  return tags[at] === "DT"
    ? at === 0 || BEFORE_CLAUSE.test(words[at - 1] ?? "")
    : BEFORE_CLAUSE.test(words[at] ?? "");
}

/** "If class projects, tests and homework pile up, …": a list, and the end of its clause after it. */
function isInList(tags: readonly string[], at: number): boolean {
  if (tags[at + 1] !== "," || !/^NNS?$/.test(tags[at + 2] ?? "")) return false;
  return /^(?:CC|,)$/.test(tags[at + 3] ?? "") && tags.indexOf(",", at + 4) > 0;
}

/** "The factory exports cars", "The firm projects revenue of …": a subject of one, an object, and no other verb. */
function isThirdPerson(sentence: TaggedWords, at: number): boolean {
  const { tags } = sentence;
  if (tags[at] !== "NNS" || !/^(?:NN|NNP)$/.test(tags[at - 1] ?? "")) return false;
  const next = tags[at + 1] ?? "";
  const hasObject = /^(?:NN|JJ)$/.test(next)
    ? startsWithDeterminer(sentence, at - 1)
    : /^(?:DT|PRP|PRP\$|NNS|NNP|CD)$/.test(next);
  return (hasObject || isFirstSubject(sentence, at - 1)) && !hasOtherVerb(sentence, at);
}
