import { isUpper } from "../characters.ts";
import { settledTag } from "./verb-or-noun.ts";
import { isInfinitive, isPassive, isPerfect, type TaggedWords } from "./word-context.ts";

export interface Settled {
  readonly tag: string;
  readonly reading: string | null;
}

/** Resolves the heteronyms of a sentence by index. */
export type Heteronyms = (texts: readonly string[], tags: readonly string[]) => ReadonlyMap<number, Settled>;

/** Dictionary keys that make a reading depend on the part of speech. */
const BY_CLASS: ReadonlySet<string> = new Set(["VERB", "NOUN", "ADJ", "ADV", "VBD", "VBN"]);
/** The dictionary's default reading of these is also the adjective's. */
const ADJECTIVES: ReadonlySet<string> = new Set(["content", "invalid", "overweight", "upset"]);
const OPENING: ReadonlySet<string> = new Set(['"', "“", "‘", "'", "(", "[", "—", "…"]);
const NONE: ReadonlyMap<number, Settled> = new Map();

/** @param tagged dictionary words whose phonemes depend on the part of speech */
export function createHeteronyms(
  table: HeteronymTable,
  tagged: ReadonlyMap<string, ReadonlyMap<string, string | null>>,
): Heteronyms {
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
      sentence ??= { words: texts.map((each) => each.toLowerCase().replace("’", "'")), tags: [...tags] };
      settled ??= new Map();
      const word = sentence.words[index] ?? "";
      // A name is no verb, but the first word of a sentence may be.
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

/** Returns the table line that applies; undefined leaves the choice to the dictionary. */
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

/** A line of the table: a reading and its conditions. */
export interface HeteronymLine {
  readonly word: string;
  readonly phonemes: string;
  /** All must hold. Empty always holds; `null` never decides (see `lexicon/heteronyms.tsv`). */
  readonly when: readonly Condition[] | null;
  readonly examples: readonly string[];
}

export interface Condition {
  readonly kind: ConditionKind;
  readonly isNot: boolean;
  /** Distance from the word, for `place`. */
  readonly offset: number;
  readonly words: ReadonlySet<string>;
  /** Penn tags, and prefixes of tags. */
  readonly tags: readonly string[];
  readonly tagBeginnings: readonly string[];
}

export type ConditionKind = "place" | "near" | "is" | Flag;
type Flag = (typeof FLAGS)[number];

export type HeteronymTable = ReadonlyMap<string, readonly HeteronymLine[]>;

const FLAGS = ["start", "capital", "infinitive", "perfect", "passive"] as const;
const PLACE = /^[+-][1-9]$/;
const TAG = /^[A-Z]+[$*]?$/;

/** Parses the table. Throws an Error that names the file and the line. */
export function parseHeteronyms(text: string, file: string): HeteronymTable {
  const table = new Map<string, HeteronymLine[]>();
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [word, phonemes, when, sentences, ...rest] = line.split("\t");
    if (!word || !phonemes || !when || !sentences || rest.length > 0) {
      throw new Error(`${file}, line ${index + 1}: four columns are wanted, with a tab between each.`);
    }
    const lines = table.get(word) ?? [];
    table.set(word, lines);
    try {
      lines.push({ word, phonemes, when: conditionsOf(when), examples: sentences.split(" / ") });
    } catch (error) {
      throw new Error(`${file}, line ${index + 1}: ${(error as Error).message}`, { cause: error });
    }
  }
  return table;
}

function conditionsOf(when: string): Condition[] | null {
  if (when === "=") return null;
  return when === "-" ? [] : when.split(";").map((condition) => conditionOf(condition.trim()));
}

function conditionOf(written: string): Condition {
  const isNot = written.startsWith("!");
  const [name = "", list] = (isNot ? written.slice(1) : written).split(/: */, 2);
  const items = list?.split(/\s+/).filter((item) => item !== "") ?? [];
  const tags = items.filter((item) => TAG.test(item));
  const rest = {
    isNot,
    words: new Set(items.filter((item) => !TAG.test(item))),
    tags: tags.filter((tag) => !tag.endsWith("*")),
    tagBeginnings: tags.filter((tag) => tag.endsWith("*")).map((tag) => tag.slice(0, -1)),
  };
  if (PLACE.test(name) && items.length > 0) return { ...rest, kind: "place", offset: Number(name) };
  if ((name === "near" || name === "is") && items.length > 0) return { ...rest, kind: name, offset: 0 };
  const flag = FLAGS.find((known) => known === name);
  if (flag === undefined || list !== undefined) throw new Error(`"${written}" is no condition.`);
  return { ...rest, kind: flag, offset: 0 };
}
