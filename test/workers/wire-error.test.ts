import assert from "node:assert/strict";
import { test } from "node:test";
import { ConversationError, NothingToSpeakError, SpeechFailedError } from "../../src/core/speech-model.ts";
import { fromWireError, toWireError } from "../../src/workers/protocol.ts";

test("an error of the seam crosses a thread's boundary with its class, its words and when to retry", () => {
  for (const error of [
    new NothingToSpeakError("nothing"),
    new ConversationError("too long"),
    new SpeechFailedError("one too many", { retryAfterMs: 2_000 }),
    new SpeechFailedError("failed"),
  ]) {
    const crossed = fromWireError(structuredClone(toWireError(error)));
    assert.equal(crossed.constructor, error.constructor);
    assert.equal(crossed.message, error.message);
    if (error instanceof SpeechFailedError) {
      assert.equal((crossed as SpeechFailedError).retryAfterMs, error.retryAfterMs);
    }
  }
});

test("what no model owns up to is its failure", () => {
  for (const thrown of [new RangeError("out of range"), "out of range"]) {
    const crossed = fromWireError(toWireError(thrown));
    assert.ok(crossed instanceof SpeechFailedError);
    assert.equal(crossed.message, "out of range");
    assert.equal(crossed.retryAfterMs, null);
  }
});
