import assert from "node:assert/strict";
import { test } from "node:test";
import { FRAME_SAMPLES } from "../../src/audio/format.ts";
import type { SpeechModel } from "../../src/core/speech-model.ts";
import { packHistory } from "../../src/workers/speech-thread.ts";
import { WorkerUtterance, type WorkerUtteranceEvents } from "../../src/workers/worker-utterance.ts";
import { scriptOf } from "../core/scripts.ts";

test("the history's samples are freed at the first frame", async () => {
  const samples = new Float32Array(240);
  const audio = { samples, sampleRateHz: 24_000, durationS: 0.01, digest: "a clip" };
  const { packed: history } = packHistory([
    { speaker: "0", text: "Hello.", audio },
    { speaker: "1", text: "Yes.", audio: null },
  ]);
  const lengths: (number | undefined)[] = [];
  const note = (): void => void lengths.push(history[0]?.audio?.samples.length);
  const model: SpeechModel = {
    analyseHistory: async () => note(),
    async *speak() {
      note();
      yield { samples: new Float32Array(FRAME_SAMPLES) };
      note();
      return { stop: "finished", spoken: "" };
    },
    close: async () => {},
  };
  const { speaker, delivery, preset, seed } = scriptOf({ text: "Yes." });
  const script = { history, speaker, delivery, preset, seed, lexicon: [], hasMouth: false, keyId: "" };
  const utterance = new WorkerUtterance(
    model,
    { kind: "open", id: 1, script, credit: 2, encoding: null },
    NO_EVENTS,
  );
  await utterance.analyseHistory();
  await utterance.step();
  await utterance.step();
  assert.deepEqual(lengths, [240, 240, 0]);
  assert.equal(samples.length, 240);
});

test("frames are sent singly at first, then in batches of at most a quarter of the lead", async () => {
  const sent: number[] = [];
  const utterance = utteranceOf(framesWithoutEnd, 20, { onFrames: (frames) => sent.push(frames.length) });
  for (let step = 0; step < 20; step++) await utterance.step();
  assert.equal(
    sent.reduce((sum, each) => sum + each, 0),
    20,
    "the rest is sent when the credit is used up",
  );
  assert.deepEqual(sent.slice(0, 3), [1, 1, 1]);
  let before = 0;
  for (const each of sent) {
    assert.ok(each <= Math.max(1, Math.ceil((before + each) / 4)), `${each} after ${before}`);
    before += each;
  }
  assert.equal(Math.max(...sent), 4);
});

test("pending frames are sent before the end, a failure or a wait for text", async () => {
  const sent: string[] = [];
  const events = {
    onFrames: (frames: readonly unknown[]) => sent.push(`${frames.length}`),
    onEnd: () => sent.push("end"),
    onFail: () => sent.push("failure"),
  };
  const ending = async function* () {
    for (let index = 0; index < 4; index++) yield frame();
    return { stop: "finished", spoken: "" } as const;
  };
  const failing = async function* () {
    for (let index = 0; index < 4; index++) yield frame();
    throw new Error("no more");
  };
  const waiting: SpeechModel["speak"] = async function* ({ text }) {
    for (let index = 0; index < 4; index++) yield frame();
    for await (const _ of text) yield frame();
    return { stop: "finished", spoken: "" };
  };
  for (const speak of [ending, failing, waiting]) {
    const utterance = utteranceOf(speak, 20, events);
    for (let step = 0; step < 5; step++) await utterance.step();
  }
  assert.deepEqual(sent, ["1", "1", "1", "1", "end", "1", "1", "1", "1", "failure", "1", "1", "1", "1"]);
});

const NO_EVENTS: WorkerUtteranceEvents = {
  onPull() {},
  onFrames() {},
  onEnd() {},
  onFail: (thrown) => assert.fail(thrown as Error),
  onRunnable() {},
  now: () => 0,
  takeWorkMs: () => 0,
};

const frame = () => ({ samples: new Float32Array(FRAME_SAMPLES) });

async function* framesWithoutEnd(): ReturnType<SpeechModel["speak"]> {
  for (;;) yield frame();
}

function utteranceOf(
  speak: SpeechModel["speak"],
  credit: number,
  events: Partial<WorkerUtteranceEvents>,
): WorkerUtterance {
  const { text: _text, ...script } = scriptOf();
  return new WorkerUtterance(
    { speak, close: async () => {} },
    { kind: "open", id: 1, script, credit, encoding: null },
    { ...NO_EVENTS, ...events },
  );
}
