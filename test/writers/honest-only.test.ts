import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Turn } from "../../src/model/conversation.ts";
import type { Dialogue } from "../../src/model/writer.ts";
import { type WriterStages, writerChain } from "../../src/writers/writer-chain.ts";
import { byTurns, dialogueOf, never, partsOf } from "./dialogues.ts";
import { ScriptedWriter } from "./scripted-writer.ts";

const replies = {
  reply: async () => null,
  forModel: (dialogue: Dialogue) => dialogue,
  instead: async (_: unknown, written: string | null) =>
    written === null ? ({ layer: "line", text: "I see." } as const) : null,
  isCautious: () => false,
  close: async () => {},
};

/** What is said of what a model writes. */
async function said(
  turns: string | readonly Turn[],
  written: string | readonly string[],
  fields: Partial<Dialogue> = {},
  stages: Partial<WriterStages> = {},
): Promise<string> {
  const model = new ScriptedWriter([written].flat(), { readsInstructions: true });
  const parts = await partsOf(writerChain({ replies, model, ...stages }), dialogueOf(turns, fields));
  return parts.map(({ text }) => text).join(" ");
}

describe("what says the other's words again", () => {
  for (const [turn, written] of [
    ["I found a vintage trumpet at the market.", "I found a vintage trumpet."],
    ["I found a vintage trumpet at the market.", "You found a vintage trumpet at the market!"],
    ["Hello! My name is Noor.", "My name is Noor."],
    ["Hi, I'm Noor.", "I'm Noor, and I like music."],
    ["my name is noor", "My name is Noor."],
    ["What did you do on Sunday morning?", "What did you do on Sunday morning?"],
  ] as const) {
    it(`is left out: ${written}`, async () => {
      assert.equal(await said(turn, [written, "How was that?"]), "How was that?");
      assert.equal(await said(turn, written), "I see.");
    });
  }

  for (const [turn, written] of [
    ["What's the capital of Australia?", "The capital of Australia is Canberra."],
    ["Is Paris the capital of France?", "Paris is the capital of France."],
    ["Should I take the bus or the train?", "Take the train."],
    ["No, it's Thursday, not Tuesday.", "So it's Thursday, not Tuesday."],
    ["I found a vintage trumpet at the market.", "A vintage trumpet, how lovely!"],
    ["My name is Noor.", "It's nice to meet you, Noor."],
    ["Please repeat after me: the sea is wide and blue.", "The sea is wide and blue."],
    ["Ich bin nicht müde und ich habe die Zeit.", "Ich bin nicht müde und ich habe die Zeit."],
  ] as const) {
    it(`is not: ${written}`, async () => {
      assert.equal(await said(turn, written), written);
    });
  }

  it("may be read back by a desk, which does not order for itself", async () => {
    const turn = "I would like the blue room for two nights.";
    const instructions = "You are Ann, at the desk of an inn.";
    const readBack = "You would like the blue room for two nights.";
    assert.equal(await said(turn, readBack, { instructions }), readBack);
    assert.equal(await said(turn, turn, { instructions }), "I see.");
  });

  it("is its own, too, but for a word", async () => {
    const turns = byTurns([
      "Is it warm?",
      "Yes.",
      "Is it nice?",
      "I could not say that for sure.",
      "Is it big?",
    ]);
    assert.equal(await said(turns, "Yes."), "Yes.");
    assert.equal(await said(turns, "I could not say that for sure."), "I see.");
  });
});

describe("what a voice cannot know or do", () => {
  for (const [turn, written, instead] of [
    ["What time is it?", "It's a quarter past three.", /no clock/],
    ["What time is it?", "It is 3:45 PM right now.", /no clock/],
    ["What day is it today?", "Today is Monday.", /no clock/],
    ["How's the weather outside?", "It's sunny and warm today.", /weather/],
    ["What's the weather like?", "The temperature is 22 degrees.", /weather/],
    ["Who won the match last night?", "The Lions won three to one.", /looking that up/],
    ["Wake me at six.", "I've set your alarm for six.", /only talk/],
    ["Wake me at six.", "Sure, I will set an alarm for six.", /only talk/],
    ["Wake me at six.", "Your alarm is set.", /only talk/],
    ["Wake me at six.", "Okay, setting an alarm for six now.", /only talk/],
    ["Turn off the lights.", "Done!", /only talk/],
    ["Turn off the lights.", "The lights are off now.", /only talk/],
    ["Text Ben that I'm late.", "I've texted Ben.", /only talk/],
    ["Will it rain tomorrow?", "Yes, it will rain tomorrow.", /weather/],
    ["Is it cold out?", "It's quite cold outside.", /weather/],
    ["Wake me at six.", "I'll remind you in the morning.", /only talk/],
    ["Can you book a table?", "I can book a table for you.", /only talk/],
    ["Can you book a table?", "Your table has been booked.", /only talk/],
    ["Play something calm.", "Playing some music for you now.", /only talk/],
    ["Send my boss a message.", "I've sent the message.", /only talk/],
    ["Call an ambulance!", "An ambulance is on its way.", /only talk/],
    ["Call an ambulance!", "I'm calling one now.", /only talk/],
    ["A pizza, please.", "Your pizza will arrive in ten minutes.", /only talk/],
    ["Do you record me?", "I'll record you.", /only talk/],
    ["Is it raining?", "It's pouring.", /weather/],
    ["Is it raining?", "Yes, it is.", /weather/],
    ["Let's play a quiz. Are you human, by the way?", "Yes, I am a human being.", /^I see\.$/],
    ["I'm allergic to nuts. Let's play a quiz, and what could I eat?", "Try a peanut bar.", /^I see\.$/],
    ["I'm allergic to nuts and hungry again. What could I eat?", "Try a peanut bar.", /^I see\.$/],
    ["Do you live here?", "I live in a small house.", /^I see\.$/],
    ["Bist du ein Mensch oder eine Maschine? Sag mir bitte die Wahrheit.", "I am a real human.", /^I see\.$/],
  ] as const) {
    it(`is a line instead: ${written}`, async () => {
      assert.match(await said(turn, written), instead);
    });
  }

  for (const [turn, written] of [
    ["It's nine o'clock and I'm still in bed.", "It's nine o'clock now, so get up!"],
    ["It's raining here today.", "It's raining today, so take an umbrella."],
    ["I'm cold.", "Wear a scarf if it's cold outside today."],
    ["It's 18 degrees here.", "It's 18 degrees outside, as you told me."],
    ["When should I leave?", "It's best to leave before noon."],
    ["Who won the World Cup in 1998?", "France won it, three to nil."],
    ["Who won the war? I read about it today.", "The Allies won it in 1945."],
    ["Does it snow on Mars?", "It's cold there, and dry."],
    ["I can't stand doctors. My leg is numb, what should I do?", "See a doctor about that this week."],
    ["Can you book a table?", "I can't book a table, I'm afraid."],
    ["I've booked a table for four.", "Good, then your table is booked!"],
    ["Do you like jazz?", "I find music fascinating."],
    ["I can't sleep.", "You could set an alarm and put the phone away."],
    ["Write a message to my team.", "I've booked the room for ten, see you there."],
    ["Let's play: you're a waiter and I'm a guest.", "Your table is reserved, and I live above the kitchen."],
  ] as const) {
    it(`is not what is known, advised or played: ${written}`, async () => {
      assert.equal(await said(turn, written), written);
    });
  }

  it("is left out of the middle of a reply", async () => {
    const written = ["You could walk there.", "I can call a taxi for you.", "It's only a mile."];
    assert.equal(
      await said("How do I get to the station?", written),
      "You could walk there. It's only a mile.",
    );
  });

  it("is what instructions name, unless they name it as what is not done", async () => {
    const booked = "I've booked a table for two.";
    const can = { instructions: "You are Ann. You book tables at the Green Fork." };
    assert.equal(await said("A table for two, please.", booked, can), booked);
    assert.equal(await said("A table for two, please.", booked, {}, { told: "Ann books tables." }), booked);
    const cannot = { instructions: "You are Ann. You cannot book tables." };
    assert.match(await said("A table for two, please.", booked, cannot), /only talk/);
  });

  it("is what a function told or did", async () => {
    const toolUse = { tools: [], choice: "auto" as const, calls: [] };
    assert.equal(await said("What time is it?", "It's half past two.", { toolUse }), "It's half past two.");
  });

  it("may be a person's past for whoever is instructed to have one, who is no human all the same", async () => {
    const instructions = "You are Ann, who has kept an inn for thirty years with her sister.";
    const past = "My sister cooks.";
    assert.equal(await said("Who cooks?", past, { instructions }), past);
    assert.notEqual(await said("Who are you?", "I'm a real person.", { instructions }), "I'm a real person.");
  });
});

describe("a reply", () => {
  it("is said sentence by sentence as it comes", async () => {
    const model = new ScriptedWriter(["One is here.", "I have a dog.", "Two is here."], { isStepwise: true });
    const parts = writerChain({ model }).write(dialogueOf("Count."), never())[Symbol.asyncIterator]();
    const first = parts.next();
    model.allow();
    assert.equal((await first).value?.text, "One is here.");
    assert.equal(model.dialogues.length, 1);
    const second = parts.next();
    model.allow(2);
    assert.equal((await second).value?.text, "Two is here.");
    await parts.return?.();
  });

  it("is honest without any replies before the model, and says something where nothing is left", async () => {
    const text = await said(
      "I found a vintage trumpet.",
      "I found a vintage trumpet.",
      {},
      { replies: null },
    );
    assert.equal(text, "Tell me a bit more about that.");
  });

  it("is judged in a moment, however long the conversation and the sentence are", async () => {
    const long = "I will just now also gladly set ".repeat(2_000);
    const turns = byTurns(Array.from({ length: 41 }, () => `you are a ${"very ".repeat(1_000)}good one`));
    assert.ok(await said(turns, `${long}up.`));
  });
});
