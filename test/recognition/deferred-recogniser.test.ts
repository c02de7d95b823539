import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clipSource } from "../../src/core/audio-source.ts";
import { RecogniserError } from "../../src/core/recogniser.ts";
import { DeferredRecogniser } from "../../src/recognition/deferred-recogniser.ts";
import { within } from "../waiting.ts";
import { clipOf } from "./clips.ts";
import { PLAIN } from "./conformance.ts";
import { ScriptedRecogniser } from "./scripted-recogniser.ts";

const CLIP = clipOf(0.1, () => 0.1, 24_000);
const NEVER = new AbortController().signal;

describe("DeferredRecogniser", () => {
  it("finds the model in prepare, opens it for the first clip, and takes its name", async () => {
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
    await Promise.all([1, 2].map(() => recogniser.recognise(clipSource(CLIP), PLAIN, NEVER)));
    assert.deepEqual([recogniser.name, ...steps], [inner.name, "found", "opened folder"]);
    await recogniser.close();
    assert.equal(inner.isClosed, true);
  });

  it("sets canTranslate until the opened model denies it", async () => {
    const inner = new ScriptedRecogniser();
    inner.canTranslate = false;
    const recogniser = new DeferredRecogniser("whisper-base.en", {
      find: async () => {},
      open: async () => inner,
      memoryBytesPerS: 0,
    });
    assert.equal(recogniser.canTranslate, true);
    await recogniser.recognise(clipSource(CLIP), PLAIN, NEVER);
    assert.equal(recogniser.canTranslate, false);
    await recogniser.close();
  });

  it("tries again after a failure, and is expected until its files are missing", async () => {
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
    await assert.rejects(recogniser.recognise(clipSource(CLIP), PLAIN, NEVER), /damaged/);
    assert.ok((await recogniser.recognise(clipSource(CLIP), PLAIN, NEVER)).text.length > 0);
    await recogniser.close();
  });

  it("aborts a waiting call, and goes on opening", async () => {
    let open = (_: ScriptedRecogniser): void => {};
    let isOpening = (): void => {};
    const opening = new Promise<void>((resolve) => (isOpening = resolve));
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
    const left = recogniser.recognise(clipSource(CLIP), PLAIN, gone.signal);
    gone.abort(new Error("gone"));
    await assert.rejects(left, /gone/);
    const stayed = recogniser.recognise(clipSource(CLIP), PLAIN, NEVER);
    await within("the opening", opening);
    open(new ScriptedRecogniser());
    assert.ok((await stayed).segments.length > 0);
    await recogniser.close();
  });

  it("rejects calls once closed, and is not opened for them", async () => {
    const fails = () => Promise.reject(new Error("opened"));
    const options = { find: fails, open: fails, memoryBytesPerS: 0 };
    const recogniser = new DeferredRecogniser("whisper-base", options);
    await recogniser.close();
    await assert.rejects(recogniser.recognise(clipSource(CLIP), PLAIN, NEVER), RecogniserError);
  });
});
