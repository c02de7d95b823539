import assert from "node:assert/strict";
import { test } from "node:test";
import {
  asksSomethingAnswered,
  claimsAboutUser,
  contentWords,
  namesSomethingNew,
  refersToEarlierTurns,
} from "../../../src/writers/small-talk/content-words.ts";

test("a reply that says of whoever asks what they have not said is told from one that takes it up", () => {
  const said = contentWords("What film do we watch then? I'm making soup for six.");
  assert.equal(claimsAboutUser("A safe sort of fright. You've nerves of steel.", said), true);
  assert.equal(claimsAboutUser("You're making soup already, so keep it simple.", said), false);
  assert.equal(claimsAboutUser("You can leave it overnight.", said), false);
  assert.equal(claimsAboutUser("You're right to ask.", said), false);
});

test("a reply that asks which of two it is, of which one was said, is told from one that asks anew", () => {
  const said = contentWords("Ines had a baby last week, a very small boy!");
  assert.equal(asksSomethingAnswered("Congratulations! Girl or boy?", said), true);
  assert.equal(asksSomethingAnswered("Are they well? A quick birth or a long one?", said), false);
});

test("a name, a number or a day that nobody said is told from one that was", () => {
  const said = contentWords("I'm starting at a café in Bristol on Monday, at eight.");
  for (const reply of [
    "Good, a café in Brindes.",
    "Then it's Friday.",
    "Nine o'clock is early.",
    "With Mr Brown?",
  ])
    assert.equal(namesSomethingNew(reply, said), true, reply);
  for (const reply of [
    "Good, a café in Bristol.",
    "Monday it is.",
    "So I'd go early. Good luck!",
    "How lovely!",
  ])
    assert.equal(namesSomethingNew(reply, said), false, reply);
});

test("a reply that says what was said in this talk is told from others", () => {
  for (const reply of [
    "You haven't told me your locker number.",
    "You said it was on Friday.",
    "You've never mentioned your sister.",
    "You didn't tell me which.",
  ])
    assert.equal(refersToEarlierTurns(reply), true, reply);
  for (const reply of ["Tell me more.", "You told him? Well done!", "That was well said.", "She said no."])
    assert.equal(refersToEarlierTurns(reply), false, reply);
});
