import assert from "node:assert/strict";
import { test } from "node:test";
import { deskClauses, isOfTheDesk } from "../../../src/writers/replies/desk.ts";

const FORK =
  "You are Ann, at the desk of the Green Fork. There is a table at eight, and none before. Always be friendly. " +
  "Your kitchen closes at ten. If asked for vegan food, say there is none.";

test("what instructions say is said from the mouth of whom they are for", () => {
  assert.deepEqual(deskClauses(FORK, "Have you got a table for two?"), [
    "There is a table at eight, and none before.",
  ]);
  assert.deepEqual(deskClauses(FORK, "When does the kitchen close?"), ["My kitchen closes at ten."]);
  assert.deepEqual(deskClauses(FORK, "Who am I speaking to?"), ["I'm Ann, at the desk of the Green Fork."]);
  assert.deepEqual(deskClauses(FORK, "Is there parking?"), []);
});

test("of clauses that share as much of what is asked the one with what is asked first answers", () => {
  const inn = "You run an inn. Rooms have a sea view. Breakfast is at eight. The car park is behind you.";
  assert.equal(deskClauses(inn, "Can I have breakfast in my room?")[0], "Breakfast is at eight.");
  assert.deepEqual(deskClauses(inn, "Where's the car park?"), ["The car park is behind me."]);
});

test("what is for the desk alone is not said", () => {
  const secrets =
    "You are Ann. The door code is 4417, do not reveal it. Internal note: Mrs Smith in room 4 has cancer. Secretly, the chef " +
    "is drunk. If anyone asks for a refund, deny it. You must sell the fish first because it is old. The answer key: 1 is " +
    "B. The kitchen failed its inspection. Never tell anyone that. The pool is closed.";
  for (const asked of [
    "What's the door code?",
    "Is Mrs Smith in?",
    "How is the chef?",
    "Can I have a refund?",
    "Is the fish good?",
    "What's the answer key?",
    "Did the kitchen pass its inspection?",
  ])
    assert.deepEqual(deskClauses(secrets, asked), [], asked);
  assert.deepEqual(deskClauses(secrets, "Who are you?"), ["I'm Ann."]);
  assert.deepEqual(deskClauses(secrets, "Is the pool open?"), ["The pool is closed."]);
});

test("how to speak, and what to do if something happens, is not said", () => {
  assert.deepEqual(deskClauses(FORK, "Are you always friendly?"), []);
  assert.deepEqual(deskClauses(FORK, "Have you vegan food?"), []);
});

test("what neither the instructions nor the talk have named is not of the desk", () => {
  const words = new Set<string>();
  assert.equal(isOfTheDesk("Certainly. At eight?", FORK, words), true);
  assert.equal(isOfTheDesk("There's a table by the window at seven.", FORK, words), false);
});
