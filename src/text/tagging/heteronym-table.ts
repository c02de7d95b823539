/** One line of the table: how a word is read where its conditions hold. */
export interface HeteronymLine {
  readonly word: string;
  readonly phonemes: string;
  /** All have to hold; none holds always; null never decides (see `lexicon/heteronyms.tsv`). */
  readonly when: readonly Condition[] | null;
  /** Sentences in which the line decides. */
  readonly examples: readonly string[];
}

export interface Condition {
  readonly kind: ConditionKind;
  readonly isNot: boolean;
  /** Places from the word, for `place`. */
  readonly offset: number;
  readonly words: ReadonlySet<string>;
  /** Penn tags, and beginnings of tags. */
  readonly tags: readonly string[];
  readonly tagBeginnings: readonly string[];
}

export type ConditionKind = "place" | "near" | "is" | Flag;
type Flag = (typeof FLAGS)[number];

/** Word, in small letters, → its lines in order. */
export type HeteronymTable = ReadonlyMap<string, readonly HeteronymLine[]>;

const FLAGS = ["start", "capital", "infinitive", "perfect", "passive"] as const;
const PLACE = /^[+-][1-9]$/;
const TAG = /^[A-Z]+[$*]?$/;

/** Reads the table. Throws an Error that names the file and the line. */
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
