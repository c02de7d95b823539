import assert from "node:assert/strict";
import { test } from "node:test";
import { matchAct } from "../../../src/writers/small-talk/classify-turn.ts";

for (const slip of ["asdf jkl;", "?!", "sdfghj asdf", "xkcdq"])
  test(`${slip} is garbled`, () => assert.equal(matchAct(slip), "garbled"));

for (const word of ["Alaska", "Dallas", "Salad", "Glad", "Brrrrr", "A flask"])
  test(`${word} is a word`, () => assert.equal(matchAct(word), null));

test("a long hum is one", () => assert.equal(matchAct("Hmmmmm."), "ack"));

test("a turn of one letter over and over is looked at in no time that grows faster than it", () => {
  assert.equal(matchAct(`${"a".repeat(7996)}rgh!`), null);
  assert.equal(matchAct(`${"asdf ".repeat(1500)}x`), null);
});
