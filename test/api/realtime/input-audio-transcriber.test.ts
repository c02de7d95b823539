import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InputAudioTranscriber } from "../../../src/api/realtime/input-audio-transcriber.ts";
import { KeyedSemaphore } from "../../../src/limits/keyed-semaphore.ts";
import { ScriptedRecogniser, segmentOf } from "../../recognition/scripted-recogniser.ts";
import { until } from "../../waiting.ts";

const S = 16_000;

function open() {
  const recogniser = new ScriptedRecogniser([segmentOf("And then.", 0)]);
  const gone = new AbortController();
  const failures: unknown[] = [];
  const options = { total: 8, perKey: 8, queueDepth: 8, keyQueueDepth: 8, waitMs: 30_000 };
  const hearing = new InputAudioTranscriber({
    recogniser,
    slots: new KeyedSemaphore({ what: "turns being heard", ...options }),
    keyId: "key_a",
    read: (from, to) => new Float32Array(Math.max(0, to - from)),
    onFailure: (error) => failures.push(error),
    signal: gone.signal,
  });
  const heard: (string | null)[] = [];
  const recognise = (revision: number, from: number, to: number) =>
    hearing.transcribe(revision, { from, to, language: null, prompt: null }, (text) => heard.push(text));
  const draft = (from: number, to: number) =>
    hearing.transcribePartial({ from, to, language: null, prompt: null }, (text) => heard.push(text));
  return { hearing, recogniser, heard, failures, recognise, draft, gone };
}

const isHeard = (heard: readonly unknown[], count: number) =>
  until("what was said", () => heard.length >= count);

describe("a turn that is heard while it is spoken", () => {
  it("gives the recogniser what it made of its beginning, and another turn's nothing of it", async () => {
    const { recogniser, heard, recognise, draft } = open();
    draft(0, 2 * S);
    await isHeard(heard, 1);
    recognise(1, 0, 3 * S);
    await isHeard(heard, 2);
    recognise(2, 5 * S, 6 * S);
    await isHeard(heard, 3);
    assert.deepEqual(
      recogniser.asked.map((asked) => asked.draft?.text ?? null),
      [null, "And then.", null],
    );
  });

  it("is not heard from its beginning each time, once it is long", async () => {
    const { recogniser, heard, recognise } = open();
    for (const [revision, s] of [2, 8, 16, 20, 33, 36, 52, 60].entries()) {
      recognise(revision, 0, s * S);
      await isHeard(heard, revision + 1);
    }
    assert.deepEqual(
      recogniser.clips.map(({ samples }) => samples.length / S),
      [2, 8, 16, 4, 17, 3, 19, 8],
    );
    assert.equal(heard.at(-1), "And then. And then. And then. And then.");
  });

  it("stops hearing what is superseded, but not what was kept", async () => {
    const { hearing, recogniser, heard, recognise } = open();
    recogniser.hold();
    recognise(1, 0, S);
    await until("the first", () => recogniser.asked.length === 1);
    recognise(2, 0, 2 * S);
    await until("its end", () => recogniser.stopped.length === 1);
    hearing.keep(2);
    recognise(3, 4 * S, 5 * S);
    await until("all of them", () => recogniser.asked.length === 3);
    recogniser.release();
    await isHeard(heard, 2);
    assert.equal(recogniser.stopped.length, 1);
  });

  it("drafts nothing while it is being heard, and nothing that is too long", async () => {
    const { recogniser, heard, recognise, draft } = open();
    recogniser.hold();
    recognise(1, 0, S);
    draft(0, 2 * S);
    recogniser.release();
    await isHeard(heard, 1);
    draft(0, 29 * S);
    recognise(2, 0, 30 * S);
    await isHeard(heard, 2);
    assert.equal(recogniser.asked.length, 2);
  });

  it("has room for two that were committed, and for a third once one is heard", async () => {
    const { hearing, recogniser, heard, recognise } = open();
    recogniser.hold();
    for (const revision of [1, 2]) {
      recognise(revision, revision * S, (revision + 1) * S);
      hearing.keep(revision);
    }
    let hasRoom = false;
    const room = hearing.waitForRoom().then(() => {
      hasRoom = true;
    });
    await until("both", () => recogniser.asked.length === 2);
    assert.ok(!hasRoom);
    recogniser.release();
    await room;
    await isHeard(heard, 1);
  });

  it("says that it was not heard where the recogniser fails, and nothing once the session is over", async () => {
    const { recogniser, heard, failures, recognise, gone } = open();
    recogniser.fail(new Error("told to fail"));
    recognise(1, 0, S);
    await isHeard(heard, 1);
    assert.deepEqual(heard, [null]);
    assert.equal(failures.length, 1);
    recogniser.hold();
    recognise(2, 0, S);
    await until("the second", () => recogniser.asked.length === 2);
    gone.abort(new Error("gone"));
    await until("its end", () => recogniser.stopped.length === 1);
    assert.equal(heard.length, 1);
  });
});
