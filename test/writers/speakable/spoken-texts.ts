import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sentencesOf } from "../../../src/text/sentences/sentence-cutter.ts";
import { speakableParts } from "../../../src/writers/speakable/speakable.ts";
import { ThoughtFilter, WrittenSentences } from "../../../src/writers/written-sentences.ts";
import { TOP } from "../../architecture/top.ts";
import { dialogueOf, never } from "../dialogues.ts";
import { ScriptedWriter } from "../scripted-writer.ts";

/** A reply as a language model writes it, and its spoken form. */
export interface SpokenText {
  readonly kind: string;
  readonly written: string;
  readonly spoken: string;
}

/** Reads `spoken-texts`, or `spoken-texts-held-out`, to which no rule was adjusted. */
export async function spokenTexts(set: string): Promise<SpokenText[]> {
  const lines = (await readFile(join(TOP, "test/golden/writers", `${set}.jsonl`), "utf8")).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as SpokenText);
}

/** Returns the spoken form of a reply that arrives in these fragments. */
export async function spokenOf(pieces: readonly string[]): Promise<string> {
  const sentences = new WrittenSentences();
  const written = pieces.flatMap((piece) => sentences.push(piece));
  return await spokenOfSentences([...written, ...sentences.flush()]);
}

/** Returns the spoken form of a reply that arrives in whole sentences or lines. */
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
