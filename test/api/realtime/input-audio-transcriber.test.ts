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
  const transcriber = new InputAudioTranscriber({
    recogniser,
    slots: new KeyedSemaphore({ what: "turns", ...options }),
    keyId: "key_a",
    read: (from, to) => new Float32Array(Math.max(0, to - from)),
    onFailure: (error) => failures.push(error),
    signal: gone.signal,
  });
  const texts: (string | null)[] = [];
  const onText = (text: string | null) => texts.push(text);
  const recognise = (revision: number, from: number, to: number) =>
    transcriber.transcribe(revision, { from, to, language: null, prompt: null }, onText);
  const draft = (from: number, to: number) =>
    transcriber.transcribePartial({ from, to, language: null, prompt: null }, onText);
  const received = (count: number) => until(`${count} transcripts`, () => texts.length >= count);
  const requested = (count: number) => until(`${count} requests`, () => recogniser.asked.length === count);
  const stopped = () => until("a request to stop", () => recogniser.stopped.length === 1);
  return { transcriber, recogniser, texts, failures, recognise, draft, gone, received, requested, stopped };
}

describe("a turn transcribed while it is spoken", () => {
  it("passes its own draft to the recogniser, not another turn's", async () => {
    const { recogniser, received, recognise, draft } = open();
    draft(0, 2 * S);
    await received(1);
    recognise(1, 0, 3 * S);
    await received(2);
    recognise(2, 5 * S, 6 * S);
    await received(3);
    const drafts = recogniser.asked.map((asked) => asked.draft?.text ?? null);
    assert.deepEqual(drafts, [null, "And then.", null]);
  });

  it("is not transcribed from its beginning each time once it is long", async () => {
    const { recogniser, texts, received, recognise } = open();
    for (const [revision, s] of [2, 8, 16, 20, 33, 36, 52, 60].entries()) {
      recognise(revision, 0, s * S);
      await received(revision + 1);
    }
    const seconds = recogniser.clips.map(({ samples }) => samples.length / S);
    assert.deepEqual(seconds, [2, 8, 16, 4, 17, 3, 19, 8]);
    assert.equal(texts.at(-1), "And then. And then. And then. And then.");
  });

  it("is stopped when it is superseded, but not once it is kept", async () => {
    const { transcriber, recogniser, received, requested, stopped, recognise } = open();
    recogniser.hold();
    recognise(1, 0, S);
    await requested(1);
    recognise(2, 0, 2 * S);
    await stopped();
    transcriber.keep(2);
    recognise(3, 4 * S, 5 * S);
    await requested(3);
    recogniser.release();
    await received(2);
    assert.equal(recogniser.stopped.length, 1);
  });

  it("is not drafted during a transcription or if it is too long", async () => {
    const { recogniser, received, recognise, draft } = open();
    recogniser.hold();
    recognise(1, 0, S);
    draft(0, 2 * S);
    recogniser.release();
    await received(1);
    draft(0, 29 * S);
    recognise(2, 0, 30 * S);
    await received(2);
    assert.equal(recogniser.asked.length, 2);
  });

  it("waits for room while two committed turns are transcribed", async () => {
    const { transcriber, recogniser, received, requested, recognise } = open();
    recogniser.hold();
    for (const revision of [1, 2]) {
      recognise(revision, revision * S, (revision + 1) * S);
      transcriber.keep(revision);
    }
    let hasRoom = false;
    const room = transcriber.waitForRoom().then(() => {
      hasRoom = true;
    });
    await requested(2);
    assert.ok(!hasRoom);
    recogniser.release();
    await room;
    await received(1);
  });

  it("has a null transcript if the recogniser fails, and none after the session ends", async () => {
    const { recogniser, texts, failures, received, requested, stopped, recognise, gone } = open();
    recogniser.fail(new Error("scripted"));
    recognise(1, 0, S);
    await received(1);
    assert.deepEqual(texts, [null]);
    assert.equal(failures.length, 1);
    recogniser.hold();
    recognise(2, 0, S);
    await requested(2);
    gone.abort(new Error("gone"));
    await stopped();
    assert.equal(texts.length, 1);
  });
});
