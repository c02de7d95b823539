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

/** A word that may be verb or noun, in its sentence. */
interface Doubtful {
  readonly sentence: TaggedWords;
  readonly at: number;
  /** The tagger's. */
  readonly tag: string;
  /** Whether it ends as plurals and the third person do. */
  readonly hasS: boolean;
  readonly isVerbElse: boolean;
}

/** What the tagger made of a word: a verb; else something with an s; else the rest. */
type Taken = "verb" | "with s" | "other";

interface Rule {
  readonly example: string;
  /** Any, unless told. */
  readonly taken?: Taken;
  readonly fits: (word: Doubtful) => boolean;
  readonly tag: (word: Doubtful) => string;
}

const noun = ({ hasS }: Doubtful): string => (hasS ? "NNS" : "NN");
const isModifier = ({ tag }: Doubtful): boolean => tag === "JJ" || tag === "RB";

/** The first rule that fits decides. */
const RULES: readonly Rule[] = [
  {
    example: "We met at the close.",
    fits: ({ sentence, at }) => isHeadNoun(sentence, at),
    tag: noun,
  },
  {
    example: "Keep your friends close.",
    fits: ({ sentence, at }) => isObjectComplement(sentence, at),
    tag: ({ tag }) => (isVerb(tag) ? "JJ" : tag),
  },
  {
    example: "The truck collects refuse.",
    taken: "verb",
    fits: ({ sentence, at, tag }) => /^VB[PZ]?$/.test(tag) && isNoun(sentence, at),
    tag: noun,
  },
  {
    example: "Check the city permits on file.",
    taken: "verb",
    fits: ({ sentence, at, hasS }) => hasS && isCommanded(sentence, at),
    tag: noun,
  },
  {
    example: "The factory exports cars.",
    taken: "with s",
    fits: ({ sentence, at }) => isThirdPerson(sentence, at),
    tag: () => "VBZ",
  },
  {
    example: "Would the older members ever object to it?",
    taken: "other",
    fits: ({ sentence, at }) => isSureInfinitive(sentence, at),
    tag: () => "VB",
  },
  {
    example: "It takes twelve jurors to convict.",
    taken: "other",
    fits: ({ sentence, at }) => isAfterTo(sentence, at),
    tag: () => "VB",
  },
  {
    example: "Speak up and project your voice.",
    taken: "other",
    fits: ({ sentence, at }) => isSecondCommand(sentence, at),
    tag: () => "VB",
  },
  {
    example: "Refill my prescription.",
    taken: "other",
    fits: ({ sentence, at }) => isCommand(sentence, at),
    tag: () => "VB",
  },
  {
    example: "Convert miles to kilometers.",
    taken: "other",
    fits: ({ sentence, at, isVerbElse }) => isVerbElse && isBareCommand(sentence, at),
    tag: () => "VB",
  },
  {
    example: "Parents object when it rains.",
    taken: "other",
    fits: (word) =>
      !(isModifier(word) && hasBaseVerbBefore(word.sentence, word.at)) &&
      isPluralVerb(word.sentence, word.at),
    tag: () => "VBP",
  },
  {
    example: "Laminate flooring is cheap.",
    taken: "other",
    fits: (word) => isModifier(word) && word.isVerbElse,
    tag: () => "NN",
  },
];

/**
 * The part of speech of a word that may be verb or noun, where the words around leave no doubt; else the tagger's own.
 * The tagger knows most; what it gets wrong are chiefly verbs whose noun is more frequent ("Parents object when …").
 *
 * @param isVerbElse whether the dictionary reads the word as a verb wherever it is no noun ("insert", "convert")
 */
export function settledTag(sentence: TaggedWords, at: number, isVerbElse: boolean): string {
  const tag = sentence.tags[at] ?? "NN";
  const hasS = /(?:^|[^s])s$/.test(sentence.words[at] ?? "");
  const word: Doubtful = { sentence, at, tag, hasS, isVerbElse };
  const taken: Taken = isVerb(tag) ? "verb" : hasS ? "with s" : "other";
  const rule = RULES.find((rule) => (rule.taken ?? taken) === taken && rule.fits(word));
  return rule?.tag(word) ?? tag;
}
