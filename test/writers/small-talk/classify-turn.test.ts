import assert from "node:assert/strict";
import { it } from "node:test";
import { matchAct } from "../../../src/writers/small-talk/classify-turn.ts";

it("matchAct tells typing errors from words", () => {
  for (const garbled of ["asdf jkl;", "?!", "sdfghj asdf", "xkcdq"])
    assert.equal(matchAct(garbled), "garbled", garbled);
  for (const word of ["Alaska", "Dallas", "Salad", "Glad", "Brrrrr", "A flask"])
    assert.equal(matchAct(word), null, word);
  assert.equal(matchAct("Hmmmmm."), "ack");
});

it("matchAct takes linear time for one letter repeated", () => {
  assert.equal(matchAct(`${"a".repeat(7996)}rgh!`), null);
  assert.equal(matchAct(`${"asdf ".repeat(1500)}x`), null);
});
