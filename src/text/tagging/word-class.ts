import {
  hasBaseVerbBefore,
  isAfterTo,
  isBareCommand,
  isCommand,
  isCommanded,
  isHeadNoun,
  isNoun,
  isObjectComplement,
  isPluralVerb,
  isSecondCommand,
  isSureInfinitive,
  isThirdPerson,
} from "./verb-or-noun.ts";
import { isVerb, type TaggedWords } from "./word-context.ts";

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
