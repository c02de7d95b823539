import { contentWords } from "../borrowed-words.ts";

/** The content words of a text as stems, those that mean the same made one. */
export function stemsOf(text: string): Set<string> {
  return new Set([...contentWords(text)].map((stem) => SAME.get(stem) ?? stem));
}

/** Rows of words of which each is taken for the first. */
const SAME: ReadonlyMap<string, string> = new Map(
  [
    "going go went gone off heading flying travelling travel fly",
    "mother mum mom mummy mam",
    "father dad daddy",
    "pick picked choose chose chosen chosing settled",
    "cost price paid pay pays",
    "colour color colours colors",
    "favourite favorite fave fav",
    "buy bought",
    "start begin began begins starts",
    "leave left leaves",
    "eat ate",
    "meet met",
    "keep kept",
    "lose lost",
    "find found",
    "drive drove",
    "come came coming",
    "child kid kids children",
    "exam test",
    "neighbour neighbor",
    "grandmother gran grandma nan",
    "grandfather grandad grandpa",
  ].flatMap((row) => {
    const stems = row.split(" ").flatMap((word) => [...contentWords(word)]);
    return stems.map((stem) => [stem, stems[0] ?? stem] as const);
  }),
);
