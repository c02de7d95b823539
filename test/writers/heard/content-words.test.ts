import assert from "node:assert/strict";
import { test } from "node:test";
import { asksWhatWasSaid, contentWords, speaksOfYou } from "../../../src/writers/heard/content-words.ts";

test("a reply that says of whoever asks what they have not said is told from one that takes it up", () => {
  const said = contentWords("What film do we watch then? I'm making soup for six.");
  assert.equal(speaksOfYou("A safe sort of fright. You've nerves of steel.", said), true);
  assert.equal(speaksOfYou("You're making soup already, so keep it simple.", said), false);
  assert.equal(speaksOfYou("You can leave it overnight.", said), false);
  assert.equal(speaksOfYou("You're right to ask.", said), false);
});

test("a reply that asks which of two it is, of which one was said, is told from one that asks anew", () => {
  const said = contentWords("Ines had a baby last week, a very small boy!");
  assert.equal(asksWhatWasSaid("Congratulations! Girl or boy?", said), true);
  assert.equal(asksWhatWasSaid("Are they well? A quick birth or a long one?", said), false);
});
