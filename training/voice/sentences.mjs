import { readFile } from "node:fs/promises";

const { harvardSentences, written } = await import(
  new URL("../../dist/bench/harvard.js", import.meta.url).href
);

/** The lines of a file of this folder; by default the Harvard sentences. */
export async function sentencesOf(file) {
  if (file === undefined) return (await harvardSentences()).map(written);
  return (await readFile(new URL(file, import.meta.url), "utf8")).trim().split("\n");
}
