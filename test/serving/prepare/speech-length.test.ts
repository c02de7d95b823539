import assert from "node:assert/strict";
import { test } from "node:test";
import { minSpeechS } from "../../../src/serving/prepare/speech-length.ts";

type Given = Parameters<typeof minSpeechS>[0];
const least = (text: string | null, maxFrames = 512) =>
  minSpeechS({ conversation: { open: { text } }, delivery: { maxFrames } } as unknown as Given);

test("minSpeechS is the time of very fast speech, at most the frame limit", () => {
  const text = "She says the sixth ship has sails made of yellow silk.";
  // The embedded voice takes 3.1 s.
  assert.ok(least(text) > 2 && least(text) < 3);
  assert.equal(least(text, 16), 1.28);
  assert.equal(least(`  ${text}\n`), least(text));
});

test("minSpeechS is 0 for text that is not yet written", () => {
  assert.equal(least(null), 0);
});
