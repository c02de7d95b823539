import assert from "node:assert/strict";
import { test } from "node:test";
import { SpeechOf } from "../../src/library/speech.ts";
import type { ResolvedRequest } from "../../src/serving/prepare/resolve-request.ts";
import { ABANDONED_OUTCOME } from "../../src/serving/reply/speech-service.ts";

/** Endless speech that counts its pieces. */
function endless() {
  const made = { pieces: 0, isEnded: false };
  const closing = new AbortController();
  const speech = new SpeechOf({
    closing: closing.signal,
    plan: () => ({ signal: null, prepare: async () => ({}) as ResolvedRequest }),
    async *speak() {
      try {
        for (;;) {
          made.pieces += 1;
          yield { bytes: new Uint8Array(3_840), marks: {} };
        }
      } finally {
        made.isEnded = true;
      }
      return ABANDONED_OUTCOME;
    },
  });
  return { speech, made, closing };
}

test("a frame is requested from the service only for next()", async () => {
  const { speech, made } = endless();
  for (let asked = 1; asked <= 5; asked++) {
    await speech.next();
    // Everything that could continue by itself has done so.
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(made.pieces, asked);
  }
  await speech.return();
  assert.deepEqual(made, { pieces: 5, isEnded: true });
});

test("speech that is not started makes nothing", async () => {
  const { speech, made, closing } = endless();
  assert.deepEqual(await speech.return(), { value: undefined, done: true });
  assert.equal(made.pieces, 0);
  closing.abort(new Error("closed"));
  await assert.rejects(speech.end, /left/);
});

test("speech that is closed while idle ends, and next() reports it", async () => {
  const { speech, made, closing } = endless();
  await speech.next();
  closing.abort(new Error("closed"));
  await assert.rejects(speech.end, /closed/);
  assert.equal(made.isEnded, true);
  await assert.rejects(speech.next(), /closed/);
  assert.deepEqual(await speech.next(), { value: undefined, done: true });
});
