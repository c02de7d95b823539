import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BookSource } from "../../../src/writers/replies/book-source.ts";
import { openReplySource } from "../../../src/writers/replies/reply-source.ts";
import {
  ALL_SOURCES,
  FEW_SOURCES,
  mayOffer,
  SOME_SOURCES,
  type Sources,
  sourcesBefore,
  sourcesFor,
} from "../../../src/writers/replies/sources.ts";
import { talkOf } from "../../../src/writers/replies/talk.ts";
import { byTurns, dialogueOf, never } from "../dialogues.ts";
import { smallBook } from "./book.ts";

const free = { isInstructed: false, callsTools: true };

describe("what stands before a model", () => {
  it("goes by its parameters", () => {
    const sizes = [135e6, 494e6, 596e6, 1.54e9, 2e9, 3.1e9, 8e9, null];
    const expected = [ALL_SOURCES, ALL_SOURCES, SOME_SOURCES, SOME_SOURCES, SOME_SOURCES];
    assert.deepEqual(sizes.map(sourcesBefore), [...expected, FEW_SOURCES, FEW_SOURCES, FEW_SOURCES]);
  });

  it("is little where it was instructed, and nothing where it may call functions or is spoken to in another language", () => {
    const asked = dialogueOf("Are you a robot?");
    assert.equal(sourcesFor(SOME_SOURCES, asked, free), SOME_SOURCES);
    assert.equal(sourcesFor(SOME_SOURCES, { ...asked, instructions: " " }, free), SOME_SOURCES);
    assert.equal(sourcesFor(SOME_SOURCES, { ...asked, instructions: "You are Ann." }, free), FEW_SOURCES);
    assert.equal(sourcesFor(ALL_SOURCES, asked, { ...free, isInstructed: true }), FEW_SOURCES);
    const toolUse = { tools: [], choice: "auto" as const, calls: [] };
    assert.equal(sourcesFor(ALL_SOURCES, { ...asked, toolUse }, free).exact, false);
    assert.equal(sourcesFor(ALL_SOURCES, { ...asked, toolUse }, { ...free, callsTools: false }), ALL_SOURCES);
    const german = dialogueOf("Ich habe das Buch nicht gelesen, und du?");
    assert.equal(sourcesFor(SOME_SOURCES, german, free).exact, false);
    const turns = [...byTurns(["Hello there, how are you?", "I am well, and you?"]), ...german.history];
    assert.equal(sourcesFor(SOME_SOURCES, dialogueOf(turns), free).exact, false);
    assert.equal(sourcesFor(SOME_SOURCES, dialogueOf("Сколько времени?"), free).exact, false);
  });

  it("finds replies to questions that stand alone, and to no others", () => {
    const isFound = (turn: string, isScene = false, nearness = 0.8) =>
      mayOffer(
        SOME_SOURCES,
        { origin: "found", nearness, act: "fact", isScene },
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
  const replies = (sources: Sources) =>
    new BookSource(
      smallBook({ acts: smallBook().acts.map((act) => ({ ...act, least: 2 })) }),
      async () => Float32Array.of(1, 0),
      async () => {},
      () => sources,
    );

  it("answers as far as it is asked to", async () => {
    const textOf = async (sources: Sources, turn: string) =>
      (await replies(sources).reply(dialogueOf(turn), never()))?.text ?? null;
    assert.equal(await textOf(ALL_SOURCES, "a balloon flew past"), "A blue one.");
    assert.equal(await textOf(SOME_SOURCES, "a balloon flew past"), null);
    assert.equal(await textOf(SOME_SOURCES, "which balloon flew past?"), "A blue one.");
    assert.equal(await textOf(FEW_SOURCES, "which balloon flew past?"), null);
    assert.equal(await textOf(FEW_SOURCES, "What is seven times eight?"), "That's 56.");
  });

  it("says what it is and works out sums without the encoder where no turn's kind is guessed", async () => {
    const source = await openReplySource({ most: FEW_SOURCES, sourcesFor: () => FEW_SOURCES });
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
