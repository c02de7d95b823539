import assert from "node:assert/strict";
import { test } from "node:test";
import { abortable } from "../../../src/core/abortable.ts";
import { SmallTalk } from "../../../src/writers/small-talk/small-talk.ts";
import { writerConformance } from "../conformance.ts";
import { byTurns, dialogueOf, never, partsOf, replyOf } from "../dialogues.ts";
import { fewReplies, SMALL_BANK } from "./few-replies.ts";

const along = async () => Float32Array.of(1, 0);

writerConformance("small talk", async () => new SmallTalk(fewReplies(), along), {
  countsTokens: false,
  makeSlowReader: async () =>
    new SmallTalk(fewReplies(), (_, signal) => abortable(new Promise(() => {}), signal)),
});

test("a reply is written sentence by sentence, with what it is", async () => {
  const bank = SMALL_BANK.map((entry) => ({ ...entry, reply: "A blue one. Or a red one." }));
  const writer = new SmallTalk(fewReplies({ bank }), along);
  assert.deepEqual(await partsOf(writer, dialogueOf("which balloon flew past?")), [
    { text: "A blue one.", tokens: null, gate: null, layer: "found" },
    { text: "Or a red one.", tokens: null, gate: null, layer: "found" },
  ]);
});

test("a reply that names what this conversation has not is not found; a character's only in a scene", async () => {
  const vectors: Readonly<Record<string, [number, number]>> = { ask: [1, 0], sail: [0, 1] };
  const embed = async (text: string) => Float32Array.from(vectors[text.split(" ")[0]!] ?? [0.7, 0.7]);
  const writer = new SmallTalk(fewReplies(), embed);
  assert.equal(await replyOf(writer, dialogueOf("ask me now then?")), "A blue one.");
  const [part] = await partsOf(writer, dialogueOf("sail over there somewhere"));
  assert.notEqual(part?.layer, "found");
});

test("a question is not answered with what was said to something told", async () => {
  const bank = SMALL_BANK.map((entry) => ({ ...entry, isAnswer: false }));
  // Near the turn that was answered, and not the same.
  const writer = new SmallTalk(fewReplies({ bank }), async () => Float32Array.of(0.8, 0.6));
  assert.equal(await replyOf(writer, dialogueOf("a balloon flew past")), "A blue one.");
  assert.equal(await replyOf(writer, dialogueOf("which balloon flew past?")), "I don't know.");
});

test("a turn that says nothing by itself gets no reply that leant on another conversation", async () => {
  const bank = SMALL_BANK.map((entry) => ({ ...entry, borrowed: [] }));
  const matrices = { ...fewReplies().matrices, previous: Int32Array.of(0, 0, 1) };
  const writer = new SmallTalk(fewReplies({ bank, matrices }), along);
  assert.equal(await replyOf(writer, dialogueOf(byTurns(["What rose?", "I see.", "why?"]))), "I don't know.");
  assert.equal(
    await replyOf(writer, dialogueOf(byTurns(["What rose?", "I see.", "why bread?"]))),
    "A blue one.",
  );
});

test("gives no found reply to a question once something was ruled out", async () => {
  const writer = new SmallTalk(fewReplies(), along);
  const asked = (told: string) => dialogueOf(byTurns([told, "I see.", "what could I bake?"]));
  assert.equal(await replyOf(writer, asked("I had a long day.")), "A blue one.");
  for (const told of ["I'm allergic to nuts.", "My sister is vegan.", "We don't eat meat.", "I can’t swim."])
    assert.equal(await replyOf(writer, asked(told)), "I don't know.", told);
  for (const newest of ["I'm allergic to nuts. What could I bake?", "I'm a vegan, what could I bake?"])
    assert.equal(await replyOf(writer, dialogueOf(newest)), "I don't know.", newest);
});

test("recommends no food or film once anything was told", async () => {
  const [greeting, ...acts] = fewReplies().acts;
  const book = fewReplies({ acts: [{ ...greeting!, name: "cook", answered: "none" }, ...acts] });
  const writer = new SmallTalk(book, along);
  const asked = (told: string) => dialogueOf(byTurns([told, "I see.", "what could I bake?"]));
  assert.equal(await replyOf(writer, asked("What rose?")), "A blue one.");
  for (const told of ["No meat for me.", "I gave up sugar.", "I avoid gluten.", "Can nuts kill me?"])
    assert.equal(await replyOf(writer, asked(told)), "I don't know.", told);
});

test("an encoder that fails is an error to retry, and no text is quoted", async () => {
  const writer = new SmallTalk(fewReplies(), async () => {
    throw new Error("broken");
  });
  await assert.rejects(partsOf(writer, dialogueOf("a secret told"), never()), {
    name: "WriterError",
    message: "the embedded writer failed: retry",
    retryAfterMs: 1_000,
  });
});
