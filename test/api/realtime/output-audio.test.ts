import assert from "node:assert/strict";
import { test } from "node:test";
import { OutputAudio } from "../../../src/api/realtime/output-audio.ts";

/** A sentence whose text is there with its first 240 ms, in which one word ends. */
function begun(): OutputAudio {
  const reply = new OutputAudio();
  reply.addText("Alpha, bravo charlie.");
  reply.addAudio(240, [{ endMs: 200, endsAt: 5 }], 1_000);
  return reply;
}

test("of a reply that is cut while it is made, words whose sound was not sent were not heard", () => {
  const reckoned = begun();
  reckoned.interrupt(9_000);
  assert.equal(reckoned.playedText(), "Alpha,");
  const told = begun();
  assert.equal(told.truncate(240), 240);
  assert.equal(told.playedText(), "Alpha,");
});

test("a reply that was heard to its end was heard with all that is written in it", () => {
  const reply = begun();
  reply.addAudio(500, [{ endMs: 700, endsAt: 20 }], 1_100);
  reply.complete();
  reply.truncate(100_000);
  assert.equal(reply.playedText(), "Alpha, bravo charlie.");
});

test("of a voice that tells no words, what was sent of a reply counts as its text", () => {
  const reply = new OutputAudio();
  reply.addText("One two three.");
  reply.addAudio(800, [], 0);
  reply.truncate(400);
  assert.equal(reply.playedText(), "One");
});
