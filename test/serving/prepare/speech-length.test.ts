import assert from "node:assert/strict";
import { test } from "node:test";
import { expectedSpeechS } from "../../../src/serving/prepare/speech-length.ts";

type Given = Parameters<typeof expectedSpeechS>[0];
const expected = (text: string | null, maxFrames = 512) =>
  expectedSpeechS({ conversation: { open: { text } }, delivery: { maxFrames } } as unknown as Given);

test("expectedSpeechS is somewhat more than the time of ordinary speech, at most the frame limit", () => {
  const text = "She says the sixth ship has sails made of yellow silk.";
  // The embedded voice takes 3.1 s.
  assert.ok(expected(text) > 3.1 && expected(text) < 4.5);
  assert.equal(expected(text, 16), 1.28);
  assert.equal(expected(`  ${text}\n`), expected(text));
});

test("expectedSpeechS is the frame limit for text that is not yet written", () => {
  assert.equal(expected(null), 40.96);
});
