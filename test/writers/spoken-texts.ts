import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SentenceCutter } from "../../src/text/sentence-cutter.ts";
import { speakableOnly } from "../../src/writers/speakable-only.ts";
import { dialogueOf, passagesOf } from "./dialogues.ts";
import { ScriptedWriter } from "./scripted-writer.ts";

/** A reply as a language model writes it, and what is to be said of it. */
export interface SpokenText {
  readonly kind: string;
  readonly written: string;
  readonly spoken: string;
  /** What the other one said before. */
  readonly heard?: string;
}

/** The texts of one of the two sets: `spoken-texts`, and `spoken-texts-held-out`, which nothing was adjusted to. */
export async function spokenTexts(set: string): Promise<SpokenText[]> {
  const here = fileURLToPath(new URL("../../../test/writers", import.meta.url));
  const lines = (await readFile(join(here, `${set}.jsonl`), "utf8")).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as SpokenText);
}

/** What is said of a reply that arrives in these pieces. */
export async function spokenOf(pieces: readonly string[], heard = "Hi."): Promise<string> {
  const cutter = new SentenceCutter();
  const sentences = pieces.flatMap((piece) => cutter.push(piece));
  const rest = cutter.flush();
  return spokenOfSentences(rest === null ? sentences : [...sentences, rest], heard);
}

/** What is said of a reply that its writer gives in these passages. */
export async function spokenOfSentences(passages: readonly string[], heard = "Hi."): Promise<string> {
  const said = await passagesOf(speakableOnly(new ScriptedWriter(passages)), dialogueOf(heard));
  return said.map(({ text }) => text).join(" ");
}
