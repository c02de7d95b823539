import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BookSource } from "../../../src/writers/replies/book-source.ts";
import {
  ALL_LAYERS,
  FEW_LAYERS,
  type Layers,
  layersBefore,
  layersFor,
  mayOffer,
  SOME_LAYERS,
} from "../../../src/writers/replies/layers.ts";
import { openReplySource } from "../../../src/writers/replies/open-reply-source.ts";
import { talkOf } from "../../../src/writers/replies/talk.ts";
import { byTurns, dialogueOf, never } from "../dialogues.ts";
import { smallBook } from "./book.ts";

const free = { isInstructed: false, callsTools: true };

describe("what stands before a model", () => {
  it("goes by its parameters", () => {
    const sizes = [135e6, 494e6, 596e6, 1.54e9, 2e9, 3.1e9, 8e9, null];
    const expected = [ALL_LAYERS, ALL_LAYERS, SOME_LAYERS, SOME_LAYERS, SOME_LAYERS];
    assert.deepEqual(sizes.map(layersBefore), [...expected, FEW_LAYERS, FEW_LAYERS, FEW_LAYERS]);
  });

  it("is little where it was instructed, and nothing where it may call functions or is spoken to in another language", () => {
    const asked = dialogueOf("Are you a robot?");
    assert.equal(layersFor(SOME_LAYERS, asked, free), SOME_LAYERS);
    assert.equal(layersFor(SOME_LAYERS, { ...asked, instructions: " " }, free), SOME_LAYERS);
    assert.equal(layersFor(SOME_LAYERS, { ...asked, instructions: "You are Ann." }, free), FEW_LAYERS);
    assert.equal(layersFor(ALL_LAYERS, asked, { ...free, isInstructed: true }), FEW_LAYERS);
    const toolUse = { tools: [], choice: "auto" as const, calls: [] };
    assert.equal(layersFor(ALL_LAYERS, { ...asked, toolUse }, free).exact, false);
    assert.equal(layersFor(ALL_LAYERS, { ...asked, toolUse }, { ...free, callsTools: false }), ALL_LAYERS);
    const german = dialogueOf("Ich habe das Buch nicht gelesen, und du?");
    assert.equal(layersFor(SOME_LAYERS, german, free).exact, false);
    const turns = [...byTurns(["Hello there, how are you?", "I am well, and you?"]), ...german.history];
    assert.equal(layersFor(SOME_LAYERS, dialogueOf(turns), free).exact, false);
    assert.equal(layersFor(SOME_LAYERS, dialogueOf("Сколько времени?"), free).exact, false);
  });

  it("finds replies to questions that stand alone, and to no others", () => {
    const isFound = (turn: string, isScene = false, nearness = 0.8) =>
      mayOffer(
        SOME_LAYERS,
        {
          origin: "found",
          nearness,
          act: "fact",
          isScene,
          isGladless: false,
          layer: "found",
          text: "",
          context: 0,
          worth: 1,
        },
        talkOf(dialogueOf(byTurns(["Hi there.", "Hello!", turn]), { speaker: "1" }))!,
      );
    assert.ok(isFound("What's the capital of New Zealand?"));
    assert.ok(isFound("Can you recommend a mystery novel?"));
    assert.ok(isFound("Is there a cure for hiccups at night?"));
    assert.ok(!isFound("And which is the smallest planet?"));
    assert.ok(!isFound("What does it cost to repair?"));
    assert.ok(!isFound("My gran baked bread yesterday."));
    assert.ok(!isFound("Do you have pancakes with syrup?", true));
    assert.ok(!isFound("What's the capital of New Zealand?", false, 0.7));
  });
});

describe("a book", () => {
  const replies = (layers: Layers) =>
    new BookSource(
      smallBook({ acts: smallBook().acts.map((act) => ({ ...act, least: 2 })) }),
      async () => Float32Array.of(1, 0),
      async () => {},
      () => layers,
    );

  it("answers as far as it is asked to", async () => {
    const textOf = async (layers: Layers, turn: string) =>
      (await replies(layers).reply(dialogueOf(turn), never()))?.text ?? null;
    assert.equal(await textOf(ALL_LAYERS, "a balloon flew past"), "A blue one.");
    assert.equal(await textOf(SOME_LAYERS, "a balloon flew past"), null);
    assert.equal(await textOf(SOME_LAYERS, "which balloon flew past?"), "A blue one.");
    assert.equal(await textOf(FEW_LAYERS, "which balloon flew past?"), null);
    assert.equal(await textOf(FEW_LAYERS, "What is seven times eight?"), "That's 56.");
  });

  it("says what it is and works out sums without the encoder where no turn's kind is guessed", async () => {
    const source = await openReplySource({ most: FEW_LAYERS, layersFor: () => FEW_LAYERS });
    const reply = (turn: string | null) => source.reply(dialogueOf(byTurns([turn])), never());
    assert.match((await reply("Are you a real person?"))?.text ?? "", /computer|voice|machine/i);
    assert.match((await reply("What's 15% of 80?"))?.text ?? "", /12/);
    for (const turn of ["What time is it?", "My dog died.", "Привет", null]) {
      assert.equal(await reply(turn), null, `${turn}`);
    }
    assert.equal((await source.instead(dialogueOf("Why is that?"), null, never()))?.layer, "line");
    assert.equal(await source.instead(dialogueOf("Why is that?"), "Because.", never()), null);
    await source.close();
  });
});
