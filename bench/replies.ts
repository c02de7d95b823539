import { readFileSync } from "node:fs";
import type { Turn } from "../src/core/conversation.ts";
import { openGateClassifier } from "../src/writers/gate/gate-classifier.ts";
import { gateWriter } from "../src/writers/gate/gated-writer.ts";
import { openSmallTalk } from "../src/writers/small-talk/small-talk.ts";

/** Prints what the embedded writer replies to each prompt of the given files (JSON lines) at temperature 0, to be judged. */
const files = process.argv.slice(2);
if (files.length === 0) throw new Error("usage: node dist/bench/replies.js PROMPTS.jsonl …");
const writer = gateWriter(await openSmallTalk(), await openGateClassifier());
for (const line of files.flatMap((file) => readFileSync(file, "utf8").trim().split("\n"))) {
  const prompt = JSON.parse(line) as Prompt | Talk;
  if (isTalk(prompt)) await talk(prompt);
  else {
    const asked = prompt.turns.map(({ text }) => text ?? "(unheard)").join(" / ");
    const history = prompt.turns.map(({ speaker, text }) => ({ speaker, text, audio: null }));
    await answer(history, prompt.open_speaker, prompt.kind, asked);
  }
}
await writer.close();

/** A conversation whose last turn is to be answered. */
interface Prompt {
  readonly turns: readonly { readonly speaker: string; readonly text: string | null }[];
  readonly open_speaker: string;
  readonly kind: string;
}

/** What one person says, turn by turn, whatever is answered. */
interface Talk {
  readonly turns: readonly string[];
  readonly kind: string;
}

function isTalk(prompt: Prompt | Talk): prompt is Talk {
  return typeof prompt.turns[0] === "string";
}

async function talk({ turns, kind }: Talk): Promise<void> {
  const history: Turn[] = [];
  for (const text of turns) {
    history.push({ speaker: "0", text, audio: null });
    history.push({ speaker: "1", text: await answer(history, "1", kind, text), audio: null });
  }
}

async function answer(
  history: readonly Turn[],
  speaker: string,
  kind: string,
  asked: string,
): Promise<string> {
  const dialogue = { history, speaker, temperature: 0, topK: null, seed: 1n };
  const sentences: string[] = [];
  let by = "";
  for await (const { text, layer, gate } of writer.write(dialogue, new AbortController().signal)) {
    by = gate === null ? (layer ?? "") : `gate: ${gate}`;
    sentences.push(text);
  }
  process.stdout.write(`${by} | ${kind} | ${asked} -> ${sentences.join(" ")}\n`);
  return sentences.join(" ");
}
