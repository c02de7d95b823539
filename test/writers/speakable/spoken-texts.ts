import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sentencesOf } from "../../../src/text/sentences/sentence-cutter.ts";
import { speakableParts } from "../../../src/writers/speakable/speakable.ts";
import { ThoughtFilter, WrittenSentences } from "../../../src/writers/written-sentences.ts";
import { dialogueOf, never } from "../dialogues.ts";
import { ScriptedWriter } from "../scripted-writer.ts";

/** A reply as a language model writes it, and what is to be said of it. */
export interface SpokenText {
  readonly kind: string;
  readonly written: string;
  readonly spoken: string;
}

/** The texts of one of the two sets: `spoken-texts`, and `spoken-texts-held-out`, which nothing was adjusted to. */
export async function spokenTexts(set: string): Promise<SpokenText[]> {
  const here = fileURLToPath(new URL("../../../../test/writers/speakable", import.meta.url));
  const lines = (await readFile(join(here, `${set}.jsonl`), "utf8")).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as SpokenText);
}

/** What is said of a reply that arrives in these pieces. */
export async function spokenOf(pieces: readonly string[]): Promise<string> {
  const sentences = new WrittenSentences();
  const written = pieces.flatMap((piece) => sentences.push(piece));
  return await spokenOfSentences([...written, ...sentences.flush()]);
}

/** What is said of a reply that is written in these stretches, each whole sentences or lines. */
export async function spokenOfStretches(stretches: readonly string[]): Promise<string> {
  const thoughts = new ThoughtFilter();
  // A line's end begins no tag, so nothing is held back.
  return await spokenOfSentences(stretches.flatMap((text) => sentencesOf(thoughts.push(`${text}\n`))));
}

async function spokenOfSentences(sentences: readonly string[]): Promise<string> {
  const said: string[] = [];
  const parts = new ScriptedWriter(sentences).write(dialogueOf("Hi."), never());
  for await (const { text } of speakableParts(parts)) if (text !== "") said.push(text);
  return said.join(" ");
}
