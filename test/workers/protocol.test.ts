import assert from "node:assert/strict";
import { test } from "node:test";
import { ConversationError, NothingToSpeakError, SpeechFailedError } from "../../src/core/speech-model.ts";
import { fromWireError, toWireError } from "../../src/workers/protocol.ts";

test("a model's error crosses threads with its class, message and retry time", () => {
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

test("any other thrown value becomes a SpeechFailedError", () => {
  for (const thrown of [new RangeError("out of range"), "out of range"]) {
    const crossed = fromWireError(toWireError(thrown));
    assert.ok(crossed instanceof SpeechFailedError);
    assert.equal(crossed.message, "out of range");
    assert.equal(crossed.retryAfterMs, null);
  }
});
