import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sha256OfFile } from "../src/files/sha256-of-file.ts";
import type { Turn } from "../src/model/conversation.ts";
import { EMBEDDED_ADAPTER, embeddedWriter } from "../src/server/embedded-writer.ts";
import { mergedWeights } from "../src/server/merged-weights.ts";
import { openGateClassifier } from "../src/writers/gate/gate-classifier.ts";
import { type GgufWriterOptions, openGgufWriter } from "../src/writers/llama/gguf-writer.ts";
import { openReplySource } from "../src/writers/replies/open-reply-source.ts";
import { writerChain } from "../src/writers/writer-chain.ts";
import { CACHE } from "./top.ts";

/**
 * Prints what an authored turn says to each prompt of a file (JSON lines), greedily, to be read and judged. `--adapter`
 * puts another adapter beside the model, as it comes; `--raw` asks the model alone: no replies, no gate, and no adapter
 * but the one that is given.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    adapter: { type: "string" },
    raw: { type: "boolean" },
    temperature: { type: "string", default: "0" },
  },
});
const [modelPath, prompts] = positionals;
if (modelPath === undefined || prompts === undefined) {
  throw new Error("usage: node dist/bench/replies.js MODEL.gguf PROMPTS.jsonl [--adapter FILE] [--raw]");
}
const options = await optionsOf(modelPath);
const beganLoading = performance.now();
const model = await openGgufWriter(options);
const writer =
  values.raw === true
    ? model
    : writerChain({ gate: await openGateClassifier(), replies: await openReplySource(), model });
process.stderr.write(`loaded in ${Math.round(performance.now() - beganLoading)} ms\n`);
for (const line of readFileSync(prompts, "utf8").trim().split("\n")) {
  const prompt = JSON.parse(line) as Prompt | Talk;
  if (isTalk(prompt)) await talk(prompt);
  else {
    const asked = prompt.turns.map(({ text }) => text ?? "(unheard)").join(" / ");
    const history = prompt.turns.map(({ speaker, text }) => ({ speaker, text, audio: null }));
    await answer(history, prompt, asked);
  }
}
await writer.close();

/** As the server runs it, with the adapter merged into the model, unless something else was asked for. */
async function optionsOf(model: string): Promise<GgufWriterOptions> {
  if (values.raw === true) return embeddedWriter(model, values.adapter ?? null);
  if (values.adapter !== undefined) return embeddedWriter(model, values.adapter);
  const dir = join(CACHE, "replies");
  await mkdir(dir, { recursive: true });
  const merged = await mergedWeights({
    base: { path: model, sha256: await sha256OfFile(model) },
    adapterPath: EMBEDDED_ADAPTER,
    dir,
    lock: join(CACHE, ".replies.lock"),
    signal: new AbortController().signal,
  });
  return embeddedWriter(merged.path, null);
}

/** A conversation whose last turn is to be answered. */
interface Prompt {
  readonly turns: readonly { readonly speaker: string; readonly text: string | null }[];
  readonly open_speaker: string;
  readonly kind: string;
  readonly instructions?: string;
}

/** What one person says, turn by turn, whatever is answered. */
interface Talk {
  readonly turns: readonly string[];
  readonly kind: string;
  readonly instructions?: string;
}

function isTalk(prompt: Prompt | Talk): prompt is Talk {
  return typeof prompt.turns[0] === "string";
}

async function talk(told: Talk): Promise<void> {
  const history: Turn[] = [];
  for (const text of told.turns) {
    history.push({ speaker: "0", text, audio: null });
    history.push({ speaker: "1", text: await answer(history, told, text), audio: null });
  }
}

async function answer(
  history: readonly Turn[],
  {
    open_speaker: speaker = "1",
    kind,
    instructions,
  }: { open_speaker?: string; kind: string; instructions?: string },
  asked: string,
): Promise<string> {
  const began = performance.now();
  const dialogue = {
    history,
    speaker,
    temperature: Number(values.temperature),
    topK: null,
    seed: 1n,
    ...(instructions !== undefined && { instructions }),
  };
  const sentences: string[] = [];
  let firstMs = 0;
  let by = "model";
  for await (const { text, layer, gate } of writer.write(dialogue, new AbortController().signal)) {
    firstMs ||= performance.now() - began;
    by = gate === null ? (layer ?? by) : `gate: ${gate}`;
    sentences.push(text);
  }
  process.stdout.write(`${Math.round(firstMs)} ms | ${by} | ${kind} | ${asked} -> ${sentences.join(" ")}\n`);
  return sentences.join(" ");
}
