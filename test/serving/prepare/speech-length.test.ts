import assert from "node:assert/strict";
import { test } from "node:test";
import { minSpeechS } from "../../../src/serving/prepare/speech-length.ts";

type Given = Parameters<typeof minSpeechS>[0];
const least = (text: string | null, maxFrames = 512) =>
  minSpeechS({ conversation: { open: { text } }, delivery: { maxFrames } } as unknown as Given);

test("a reply is at least as long as its text said very fast, and no longer than its frames", () => {
  const text = "She says the sixth ship has sails made of yellow silk.";
  // The embedded voice takes 3.1 s for it.
  assert.ok(least(text) > 2 && least(text) < 3);
  assert.equal(least(text, 16), 1.28);
  assert.equal(least(`  ${text}\n`), least(text));
});

test("of words that are not written nothing is known", () => {
  assert.equal(least(null), 0);
});
