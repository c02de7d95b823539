import assert from "node:assert/strict";
import { it } from "node:test";
import {
  asksSomethingAnswered,
  claimsAboutUser,
  contentWords,
  datesAndNumbers,
  namesSomethingNew,
  refersToEarlierTurns,
  wordsFromContext,
} from "../../../src/writers/small-talk/content-words.ts";

it("claimsAboutUser finds what the user did not say about themselves", () => {
  const said = contentWords("What film do we watch then? I'm making soup for six.");
  assert.equal(claimsAboutUser("A safe sort of fright. You've nerves of steel.", said), true);
  assert.equal(claimsAboutUser("You're making soup already, so keep it simple.", said), false);
  assert.equal(claimsAboutUser("You can leave it overnight.", said), false);
  assert.equal(claimsAboutUser("You're right to ask.", said), false);
});

it("asksSomethingAnswered finds a choice of which the user named one", () => {
  const said = contentWords("Ines had a baby last week, a very small boy!");
  assert.equal(asksSomethingAnswered("Congratulations! Girl or boy?", said), true);
  assert.equal(asksSomethingAnswered("Are they well? A quick birth or a long one?", said), false);
});

it("namesSomethingNew finds names, numbers and days that the user did not say", () => {
  const said = contentWords("I'm starting at a café in Bristol on Monday, at eight.");
  const added = ["Good, a café in Brindes.", "Then it's Friday.", "Nine o'clock is early.", "With Mr Brown?"];
  for (const reply of added) assert.equal(namesSomethingNew(reply, said), true, reply);
  for (const reply of [
    "Good, a café in Bristol.",
    "Monday it is.",
    "So I'd go early. Good luck!",
    "How lovely!",
  ])
    assert.equal(namesSomethingNew(reply, said), false, reply);
});

it("refersToEarlierTurns finds claims about the conversation", () => {
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

it("wordsFromContext returns the content words that a reply shares with its conversation", () => {
  const words = wordsFromContext("Then your cousins may dance!", ["My cousin danced on Friday."]);
  assert.deepEqual(words, ["cousin", "danc"]);
  assert.deepEqual(wordsFromContext("I'm so sorry to hear that.", ["I lost my job."]), []);
  assert.deepEqual([...contentWords("What do you want to do?")], []);
});

it("datesAndNumbers returns a reply's numbers and days", () => {
  const words = datesAndNumbers("Two hundred! And 63 more on Wednesday.");
  assert.deepEqual(words, ["two", "hundr", "63", "wednesday"]);
  assert.deepEqual(datesAndNumbers("One step at a time."), []);
});
