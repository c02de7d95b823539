import { isUpper } from "../characters.ts";
import type { Dictionary } from "../tables/tables.ts";
import type { Condition, HeteronymLine, HeteronymTable } from "./heteronym-table.ts";
import { settledTag } from "./word-class.ts";
import { isInfinitive, isPassive, isPerfect, type TaggedWords } from "./word-context.ts";

/** What is known of one word in the light of its sentence. */
export interface Settled {
  readonly tag: string;
  /** Its phonemes where the words around decide them, else null. */
  readonly reading: string | null;
}

/** Settles those words of a sentence that are read in two ways; nothing where there are none. */
export type Heteronyms = (texts: readonly string[], tags: readonly string[]) => ReadonlyMap<number, Settled>;

/** What makes a reading hang on the part of speech, among the names of a dictionary entry's parts. */
const BY_CLASS: ReadonlySet<string> = new Set(["VERB", "NOUN", "ADJ", "ADV", "VBD", "VBN"]);
/** Adjectives too in the reading that the dictionary gives for all but nouns. */
const ADJECTIVES: ReadonlySet<string> = new Set(["content", "invalid", "overweight", "upset"]);
const OPENING: ReadonlySet<string> = new Set(['"', "“", "‘", "'", "(", "[", "—", "…"]);
const NONE: ReadonlyMap<number, Settled> = new Map();

export function createHeteronyms(table: HeteronymTable, { tagged }: Pick<Dictionary, "tagged">): Heteronyms {
  const byClass = new Set(
    [...tagged].flatMap(([word, entry]) =>
      [...entry.keys()].some((key) => BY_CLASS.has(key)) ? [word] : [],
    ),
  );
  const verbElse = new Set(
    [...tagged].flatMap(([word, entry]) =>
      entry.has("NOUN") && !entry.has("VERB") && !entry.has("ADJ") && !ADJECTIVES.has(word) ? [word] : [],
    ),
  );
  const isHeteronym = (word: string): boolean => byClass.has(word) || table.has(word);

  return (texts, tags) => {
    let settled: Map<number, Settled> | undefined;
    let sentence: { words: string[]; tags: string[] } | undefined;
    for (const [index, text] of texts.entries()) {
      if (!isHeteronym(text) && !isHeteronym(text.toLowerCase())) continue;
      if (text.length > 1 && isUpper(text) && tags[index] === "NNP") continue;
      sentence ??= { words: texts.map(wordOf), tags: [...tags] };
      settled ??= new Map();
      const word = sentence.words[index] ?? "";
      // A name is no verb; the first word of a sentence may be any.
      if (text === word || isFirst(sentence, index)) {
        sentence.tags[index] = settledTag(sentence, index, verbElse.has(word));
      }
      const tag = sentence.tags[index] ?? "NN";
      const line = decidingLine(table, sentence, index, text);
      settled.set(index, { tag, reading: line?.phonemes ?? null });
    }
    return settled ?? NONE;
  };
}

/** The line that decides how a word is read; undefined where the dictionary does. */
function decidingLine(
  table: HeteronymTable,
  sentence: TaggedWords,
  index: number,
  text: string,
): HeteronymLine | undefined {
  return table
    .get(sentence.words[index] ?? "")
    ?.find(({ when }) =>
      when?.every((condition) => holds(condition, sentence, index, text) !== condition.isNot),
    );
}

function holds(condition: Condition, sentence: TaggedWords, index: number, text: string): boolean {
  switch (condition.kind) {
    case "place":
      return isOneOf(condition, sentence, index + condition.offset);
    case "is":
      return isOneOf(condition, sentence, index);
    case "near":
      return sentence.words.some((word, at) => at !== index && condition.words.has(word));
    case "start":
      return isFirst(sentence, index);
    case "capital":
      return text !== text.toLowerCase();
    case "infinitive":
      return isInfinitive(sentence, index);
    case "perfect":
      return isPerfect(sentence, index);
    case "passive":
      return isPassive(sentence, index);
  }
}

/** Whether nothing but opening marks stands before. */
function isFirst({ words }: TaggedWords, index: number): boolean {
  return words.slice(0, index).every((word) => OPENING.has(word));
}

function isOneOf({ words, tags, tagBeginnings }: Condition, sentence: TaggedWords, at: number): boolean {
  const word = sentence.words[at];
  const tag = sentence.tags[at];
  if (word === undefined || tag === undefined) return false;
  return (
    words.has(word) || tags.includes(tag) || tagBeginnings.some((beginning) => tag.startsWith(beginning))
  );
}

function wordOf(text: string): string {
  return text.toLowerCase().replace("’", "'");
}
