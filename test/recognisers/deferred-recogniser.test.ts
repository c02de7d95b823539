import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Clip } from "../../src/model/conversation.ts";
import { type RecogniseOptions, RecogniserError } from "../../src/model/recogniser.ts";
import { DeferredRecogniser } from "../../src/recognisers/deferred-recogniser.ts";
import { ScriptedRecogniser } from "./scripted-recogniser.ts";

const CLIP: Clip = {
  samples: new Float32Array(2_400).fill(0.1),
  sampleRateHz: 24_000,
  durationS: 0.1,
  digest: "x",
};
const OPTIONS: RecogniseOptions = { language: null, prompt: null, wantsWords: false, draft: null };
const NEVER = new AbortController().signal;

describe("a deferred recogniser", () => {
  it("is opened by the first clip, once, and has its own name from then on", async () => {
    const inner = new ScriptedRecogniser();
    let opened = 0;
    const recogniser = new DeferredRecogniser("whisper-base", async () => {
      opened += 1;
      return inner;
    });
    assert.deepEqual([recogniser.name, recogniser.isReady, opened], ["whisper-base", false, 0]);
    await Promise.all([1, 2].map(() => recogniser.recognise(CLIP, OPTIONS, NEVER)));
    await recogniser.prepare();
    assert.deepEqual([recogniser.name, recogniser.isReady, opened], [inner.name, true, 1]);
    await recogniser.close();
    assert.deepEqual([inner.isClosed, recogniser.isReady], [true, false]);
  });

  it("is tried again by the next clip after a failure", async () => {
    const ways = [
      () => Promise.reject(new RecogniserError("no weights")),
      async () => new ScriptedRecogniser(),
    ];
    const recogniser = new DeferredRecogniser("whisper-base", () => ways.shift()!());
    await assert.rejects(recogniser.prepare(), /no weights/);
    assert.equal(recogniser.isReady, false);
    assert.ok((await recogniser.recognise(CLIP, OPTIONS, NEVER)).text.length > 0);
    await recogniser.close();
  });

  it("lets go of who leaves while it is opened, and is opened all the same", async () => {
    let open = (_: ScriptedRecogniser): void => {};
    const recogniser = new DeferredRecogniser(
      "whisper-base",
      () =>
        new Promise((resolve) => {
          open = resolve;
        }),
    );
    const gone = new AbortController();
    const left = recogniser.recognise(CLIP, OPTIONS, gone.signal);
    gone.abort(new Error("gone"));
    await assert.rejects(left, /gone/);
    const stayed = recogniser.recognise(CLIP, OPTIONS, NEVER);
    open(new ScriptedRecogniser());
    assert.ok((await stayed).segments.length > 0);
    await recogniser.close();
  });

  it("hears nothing once it is closed, and was never opened for that", async () => {
    const recogniser = new DeferredRecogniser("whisper-base", () => Promise.reject(new Error("opened")));
    await recogniser.close();
    await assert.rejects(recogniser.recognise(CLIP, OPTIONS, NEVER), RecogniserError);
  });
});
