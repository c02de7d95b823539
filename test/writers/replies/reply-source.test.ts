import assert from "node:assert/strict";
import { test } from "node:test";
import type { Dialogue } from "../../../src/model/writer.ts";
import { BookSource } from "../../../src/writers/replies/book-source.ts";
import type { ReadyReply } from "../../../src/writers/replies/reply-source.ts";
import { writerChain } from "../../../src/writers/writer-chain.ts";
import { writerConformance } from "../conformance.ts";
import { dialogueOf, partsOf } from "../dialogues.ts";
import { ScriptedWriter } from "../scripted-writer.ts";
import { SMALL_BANK, smallBook } from "./book.ts";

const SENTENCES = ["One is here.", "Two is here.", "Three is here."];
/** Has that ready, and knows better than a model wherever that wrote nothing, or just this. */
const source = (ready: ReadyReply | null, bad = "") => ({
  reply: async (_: unknown, signal: AbortSignal) => {
    signal.throwIfAborted();
    return ready;
  },
  forModel: (dialogue: Dialogue) => dialogue,
  instead: async (_: unknown, written: string | null) =>
    written === null || written === bad ? ({ layer: "line", text: "I see." } as const) : null,
  isCautious: () => false,
  close: async () => {},
});

writerConformance(
  "a writer with replies before it, of which none fits",
  async () => writerChain({ replies: source(null), model: new ScriptedWriter(SENTENCES) }),
  {
    makeSlowReader: async () =>
      writerChain({ replies: source(null), model: new ScriptedWriter(SENTENCES, { isStepwise: true }) }),
  },
);

test("a reply that is ready is said sentence by sentence, and the model is not asked", async () => {
  const model = new ScriptedWriter([]);
  const writer = writerChain({ replies: source({ layer: "found", text: "Well done! How was it?" }), model });
  assert.deepEqual(await partsOf(writer, dialogueOf("I won.")), [
    { text: "Well done!", tokens: null, gate: null, layer: "found" },
    { text: "How was it?", tokens: null, gate: null, layer: "found" },
  ]);
});

test("of the model's sentences those that claim to be a person's are left out", async () => {
  const writer = writerChain({
    replies: source(null),
    model: new ScriptedWriter(["I had pasta for dinner.", "What did you have?"]),
  });
  const parts = await partsOf(writer, dialogueOf("Hi."));
  assert.deepEqual(
    parts.map(({ text, layer }) => [text, layer]),
    [["What did you have?", "model"]],
  );
});

test("where nothing is left something plain is said", async () => {
  const writer = writerChain({ replies: source(null), model: new ScriptedWriter(["My sister cooks."]) });
  const parts = await partsOf(writer, dialogueOf("Hi."));
  assert.deepEqual(
    parts.map(({ text, layer }) => [text, layer]),
    [["I see.", "line"]],
  );
});

test("what is better is said instead of what the model wrote, and the model is not heard further", async () => {
  const writer = writerChain({ replies: source(null, SENTENCES[0]), model: new ScriptedWriter(SENTENCES) });
  const parts = await partsOf(writer, dialogueOf("Hi."));
  assert.deepEqual(
    parts.map(({ text, layer }) => [text, layer]),
    [["I see.", "line"]],
  );
});

test("a reply that names what this conversation has not is not found; a character's only in a scene", async () => {
  const vectors: Readonly<Record<string, [number, number]>> = { ask: [1, 0], sail: [0, 1] };
  const embed = async (text: string) => Float32Array.from(vectors[text.split(" ")[0]!] ?? [0.7, 0.7]);
  const book = smallBook({ acts: smallBook().acts.map((act) => ({ ...act, least: 2 })) });
  const found = new BookSource(book, embed, async () => {});
  const never = new AbortController().signal;
  assert.equal((await found.reply(dialogueOf("ask me now then"), never))?.text, "A blue one.");
  assert.notEqual((await found.reply(dialogueOf("sail over there somewhere"), never))?.layer, "found");
});

test("a question is not answered with what was said to something told", async () => {
  const book = smallBook({ bank: SMALL_BANK.map((entry) => ({ ...entry, isAnswer: false })) });
  const found = new BookSource(
    book,
    async () => Float32Array.of(1, 0),
    async () => {},
  );
  const never = new AbortController().signal;
  assert.equal((await found.reply(dialogueOf("a balloon flew past"), never))?.text, "A blue one.");
  assert.notEqual((await found.reply(dialogueOf("which balloon flew past?"), never))?.text, "A blue one.");
});
