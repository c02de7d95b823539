import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Phonemizer } from "../../src/text/phonemes/phonemizer.ts";
import { TOP } from "../architecture/top.ts";

/** A text and its accepted readings: see test/golden/readings/README.md. */
export interface Row {
  readonly id: string;
  readonly kind: string;
  readonly text: string;
  readonly says?: readonly string[];
  readonly phonemes?: readonly string[];
  readonly contains?: readonly string[];
  readonly lacks?: readonly string[];
  readonly sentences?: number;
}

/** How a row was read, and its fault or "". */
export interface Judged {
  readonly row: Row;
  readonly read: readonly string[];
  readonly fault: string;
}

export const READINGS = join(TOP, "test/golden/readings");

export function readRows(file = join(READINGS, "public.jsonl")): Row[] {
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

export async function judge(phonemizer: Phonemizer, row: Row): Promise<Judged> {
  const read = await phonemizer.phonemes(row.text);
  const bare = bareOf(read);
  const wanted = [...(row.phonemes ?? []).map((phonemes) => bareOf([phonemes]))];
  for (const words of row.says ?? []) wanted.push(bareOf(await phonemizer.phonemes(words)));
  const has = (alternatives: string): boolean =>
    alternatives.split("|").some((one) => bare.includes(bareOf([one])));
  const faults = [
    bare === "" ? "nothing is said" : "",
    wanted.length > 0 && !wanted.includes(bare) ? `not as ${JSON.stringify(row.says?.[0] ?? wanted[0])}` : "",
    row.contains?.every(has) === false ? `without ${row.contains.join(" ").slice(0, 40)}` : "",
    row.lacks?.some(has) === true ? `with one of ${row.lacks.join(" ")}` : "",
    row.sentences !== undefined && row.sentences !== read.length ? `${read.length} sentences` : "",
  ];
  return { row, read, fault: faults.filter(Boolean).join("; ") };
}

/** Returns "42 of 52" for each kind and for all. */
export function shares(judged: readonly Judged[]): Map<string, string> {
  const counts = new Map<string, [number, number]>();
  for (const { row, fault } of judged) {
    for (const kind of [row.kind, "all"]) {
      const [right, rows] = counts.get(kind) ?? [0, 0];
      counts.set(kind, [right + (fault === "" ? 1 : 0), rows + 1]);
    }
  }
  return new Map([...counts].map(([kind, [right, rows]]) => [kind, `${right} of ${rows}`]));
}

/** Drops stress, punctuation and spaces; unifies weak vowels, flaps, "the" and "to". */
function bareOf(sentences: readonly string[]): string {
  return sentences
    .join(" ")
    .replace(/[ˈˌ]/g, "")
    .replace(/[ᵊᵻ]/g, "ə")
    .replaceAll("T", "t")
    .split(/[^\p{L}]+/u)
    .map((word) => (word === "ði" ? "ðə" : word === "tu" || word === "tʊ" ? "tə" : word))
    .join("");
}
