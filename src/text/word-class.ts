import { hasOtherVerb, isInfinitive, isVerb, type TaggedWords } from "./word-context.ts";

const MAKES_NOUN = /^(?:the|a|an|my|your|his|its|our|their|this|each|every|no)$/;
const TAKES_INFINITIVE =
  /^(?:help|let|make|have|watch|see|hear|feel|dare|go|come|do|be|is|am|are|was|were|get)/;
const PLURAL_SUBJECT = /^(?:i|we|they|you|who)$/;
const AFTER_VERB = /^(?:DT|PRP|PRP\$|IN|TO|RB|RBR|JJ|JJR|NN|NNS|NNP|NNPS|CD|WRB|WP|RP|,|CC)$/;
const AFTER_COMMAND = /^(?:DT|PRP|PRP\$)$/;

/**
 * The part of speech of a word that may be verb or noun, where the words around leave no doubt; else the tagger's own.
 * The tagger knows most; what it gets wrong are chiefly verbs whose noun is more frequent ("Parents object when …").
 */
export function settledTag(sentence: TaggedWords, at: number): string {
  const { words, tags } = sentence;
  const tag = tags[at] ?? "NN";
  const word = words[at] ?? "";
  const isThird = word.endsWith("s") && !word.endsWith("ss");
  if (isVerb(tag)) return isThirdOrBase(tag) && isNoun(sentence, at) ? nounTag(isThird) : tag;
  if (isThird) return isThirdPerson(sentence, at) ? "VBZ" : tag;
  if (isInfinitive(sentence, at) && !AFTER_NOUN.test(tags[at - 1] ?? "")) return "VB";
  if (isCommand(sentence, at)) return "VB";
  return isPluralVerb(sentence, at) ? "VBP" : tag;
}

const AFTER_NOUN = /^(?:DT|PRP\$|JJ|POS)$/;

function isThirdOrBase(tag: string): boolean {
  return tag === "VB" || tag === "VBP" || tag === "VBZ";
}

function nounTag(isPlural: boolean): string {
  return isPlural ? "NNS" : "NN";
}

/** "the produce", "in use", "collects refuse": no verb can stand there. */
function isNoun(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  const before = words[at - 1];
  if (before === undefined || isInfinitive(sentence, at)) return false;
  const tagBefore = tags[at - 1] ?? "";
  if (MAKES_NOUN.test(before) || tagBefore === "POS") return true;
  if (tagBefore === "IN") return before !== "that" && before !== "as" && before !== "than";
  return (tagBefore === "VBZ" || tagBefore === "VBD") && !TAKES_INFINITIVE.test(before);
}

/** "Record the show", "Please polish it": the first word, or the one after "please" or "and", before an object. */
function isCommand(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  const before = words[at - 1];
  const begins = before === undefined || /^(?:please|kindly|then|always|never|["“,])$/.test(before);
  return begins && AFTER_COMMAND.test(tags[at + 1] ?? "") && !hasOtherVerb(sentence, at);
}

/** "Analysts project growth", "The two dates conflict": a plural subject has no other verb. */
function isPluralVerb(sentence: TaggedWords, at: number): boolean {
  const { words, tags } = sentence;
  let subject = at - 1;
  while (subject > 0 && tags[subject] === "RB") subject--;
  const isPronoun = PLURAL_SUBJECT.test(words[subject] ?? "");
  const isPlural = /^NNP?S$/.test(tags[subject] ?? "") || isPluralName(sentence, subject);
  if (!isPronoun && !isPlural) return false;
  const next = tags[at + 1];
  const ends = next === undefined || next === ".";
  if (ends ? !isPronoun && !startsWithDeterminer(sentence, subject) : !AFTER_VERB.test(next)) return false;
  return !hasOtherVerb(sentence, at);
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

/** "The factory exports cars": a subject of one, an object, and no other verb. */
function isThirdPerson(sentence: TaggedWords, at: number): boolean {
  const { tags } = sentence;
  if (tags[at] !== "NNS" || !/^(?:NN|NNP)$/.test(tags[at - 1] ?? "")) return false;
  return /^(?:DT|PRP|PRP\$|NNS|NNP|CD)$/.test(tags[at + 1] ?? "") && !hasOtherVerb(sentence, at);
}
