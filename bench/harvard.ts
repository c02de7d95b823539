import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { TOP } from "./top.ts";

/** The Harvard sentences of `bench/harvard.txt` (IEEE, 1969), in lower case and without marks. */
export async function harvardSentences(): Promise<readonly string[]> {
  return (await readFile(join(TOP, "bench", "harvard.txt"), "utf8")).trim().split("\n");
}

/** A capital and a full stop, as any writer would put them; the list has none. */
export function written(sentence: string): string {
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}
