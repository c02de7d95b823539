import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clipSource } from "../../src/core/audio-source.ts";
import type { Clip } from "../../src/core/conversation.ts";
import { type RecogniseOptions, RecogniserError } from "../../src/core/recogniser.ts";
import { DeferredRecogniser } from "../../src/recognition/deferred-recogniser.ts";
import { within } from "../waiting.ts";
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
  it("is found when it is prepared, opened by the first clip, once, and has its own name from then on", async () => {
    const inner = new ScriptedRecogniser();
    const steps: string[] = [];
    const recogniser = new DeferredRecogniser("whisper-base", {
      async find() {
        steps.push("found");
        return "folder";
      },
      async open(found) {
        steps.push(`opened ${found}`);
        return inner;
      },
      memoryBytesPerS: 0,
    });
    assert.deepEqual([recogniser.name, ...steps], ["whisper-base"]);
    await recogniser.prepare();
    await recogniser.prepare();
    assert.deepEqual([recogniser.name, ...steps], ["whisper-base", "found"]);
    await Promise.all([1, 2].map(() => recogniser.recognise(clipSource(CLIP), OPTIONS, NEVER)));
    assert.deepEqual([recogniser.name, ...steps], [inner.name, "found", "opened folder"]);
    await recogniser.close();
    assert.equal(inner.isClosed, true);
  });

  it("may translate as far as it knows, until what is opened cannot", async () => {
    const inner = new ScriptedRecogniser();
    inner.canTranslate = false;
    const recogniser = new DeferredRecogniser("whisper-base.en", {
      find: async () => {},
      open: async () => inner,
      memoryBytesPerS: 0,
    });
    assert.equal(recogniser.canTranslate, true);
    await recogniser.recognise(clipSource(CLIP), OPTIONS, NEVER);
    assert.equal(recogniser.canTranslate, false);
    await recogniser.close();
  });

  it("is tried again by the next clip after a failure, and expected until its files are missing", async () => {
    const ways = [() => Promise.reject(new RecogniserError("damaged")), async () => new ScriptedRecogniser()];
    const missing = () => Promise.reject(new RecogniserError("no weights"));
    const finds = [missing, missing, async () => {}, async () => {}];
    const recogniser = new DeferredRecogniser("whisper-base", {
      find: () => finds.shift()!(),
      open: () => ways.shift()!(),
      memoryBytesPerS: 0,
    });
    assert.equal(await recogniser.isExpected(), true);
    await assert.rejects(recogniser.prepare(), /no weights/);
    assert.equal(await recogniser.isExpected(), false);
    assert.equal(await recogniser.isExpected(), true);
    await assert.rejects(recogniser.recognise(clipSource(CLIP), OPTIONS, NEVER), /damaged/);
    assert.ok((await recogniser.recognise(clipSource(CLIP), OPTIONS, NEVER)).text.length > 0);
    await recogniser.close();
  });

  it("lets go of who leaves while it is opened, and is opened all the same", async () => {
    let open = (_: ScriptedRecogniser): void => {};
    let isOpening = (): void => {};
    const opening = new Promise<void>((resolve) => {
      isOpening = resolve;
    });
    const recogniser = new DeferredRecogniser("whisper-base", {
      find: async () => {},
      open: () =>
        new Promise((resolve) => {
          open = resolve;
          isOpening();
        }),
      memoryBytesPerS: 0,
    });
    const gone = new AbortController();
    const left = recogniser.recognise(clipSource(CLIP), OPTIONS, gone.signal);
    gone.abort(new Error("gone"));
    await assert.rejects(left, /gone/);
    const stayed = recogniser.recognise(clipSource(CLIP), OPTIONS, NEVER);
    await within("the opening", opening);
    open(new ScriptedRecogniser());
    assert.ok((await stayed).segments.length > 0);
    await recogniser.close();
  });

  it("hears nothing once it is closed, and was never opened for that", async () => {
    const fails = () => Promise.reject(new Error("opened"));
    const recogniser = new DeferredRecogniser("whisper-base", {
      find: fails,
      open: fails,
      memoryBytesPerS: 0,
    });
    await recogniser.close();
    await assert.rejects(recogniser.recognise(clipSource(CLIP), OPTIONS, NEVER), RecogniserError);
  });
});
