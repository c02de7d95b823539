import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import type { Turn } from "../../src/core/conversation.ts";
import { SpeechFailedError } from "../../src/core/speech-model.ts";
import type { WorkerPool } from "../../src/workers/worker-pool.ts";
import { drain, never, scriptOf } from "../core/scripts.ts";
import { until } from "../waiting.ts";
import { COUNT } from "./faulty-model.ts";
import { closePools, faultyPool, REPORT, TONE, takeFrames } from "./faulty-pool.ts";

afterEach(closePools);

test("an utterance whose model analyses its history blocks no other", async () => {
  const { pool, count } = await faultyPool();
  const listening = begin(pool, "long");
  await analysisBegun(count, 1);
  const other = pool.speak(scriptOf({ text: "views" }), never());
  for (let frame = 0; frame < 20; frame++) assert.equal((await other.next()).done, false);
  assert.equal(Atomics.load(count, COUNT.frames), 0);
  await other.return(REPORT);
  listening.leave();
  await assert.rejects(listening.first, /gone/);
});

test("leaving an utterance aborts the analysis, and its model does not speak", async () => {
  const { pool, count } = await faultyPool();
  const listening = begin(pool, "long");
  await analysisBegun(count, 1);
  listening.leave();
  await assert.rejects(listening.first, /gone/);
  await until("the listening to end", () => Atomics.load(count, COUNT.aborted) > 0);
  assert.equal(pool.stats().open, 0);
  await takeFrames(pool, 5);
  assert.equal(Atomics.load(count, COUNT.frames), 0);
});

test("leaving before the analysis begins aborts it as well", async () => {
  const { pool, count } = await faultyPool();
  const listening = begin(pool, "long");
  listening.leave();
  await assert.rejects(listening.first, /gone/);
  await takeFrames(pool, 5);
  assert.equal(Atomics.load(count, COUNT.analysed), Atomics.load(count, COUNT.aborted));
  assert.equal(Atomics.load(count, COUNT.frames), 0);
});

test("closing during an analysis fails the utterance and ends the thread", async () => {
  const { pool, count } = await faultyPool();
  const { first } = begin(pool, "long");
  await analysisBegun(count, 1);
  await Promise.all([pool.close(), assert.rejects(first, SpeechFailedError)]);
  assert.equal(Atomics.load(count, COUNT.aborted), 1);
});

test("a model that fails to analyse still speaks", async () => {
  const { pool, count } = await faultyPool();
  assert.equal((await begin(pool, "deaf").first).done, false);
  assert.equal(Atomics.load(count, COUNT.analysed), 1);
});

test("a model that fails to analyse and to speak reports one failure", async () => {
  const { pool } = await faultyPool();
  await assert.rejects(begin(pool, "mute").first, (error) => {
    assert.ok(error instanceof SpeechFailedError);
    assert.match(error.message, /it does not speak/);
    return true;
  });
  assert.equal(pool.stats().open, 0);
  await takeFrames(pool, 3);
});

test("a thread that dies during an analysis fails its utterances and is replaced", async () => {
  const { pool } = await faultyPool();
  await assert.rejects(begin(pool, "crash").first, SpeechFailedError);
  await takeFrames(pool, 3);
  assert.equal(pool.stats().replaced, 1);
});

test("a history without audio is not analysed", async () => {
  const { pool, count } = await faultyPool();
  const history: Turn[] = [{ speaker: "0", text: "long", audio: null }];
  const speech = pool.speak(scriptOf({ text: "views", history }), never());
  assert.equal((await speech.next()).done, false);
  assert.equal(Atomics.load(count, COUNT.analysed), 0);
  await speech.return(REPORT);
});

test("a text that ends before the analysis is spoken in full", async () => {
  const { pool } = await faultyPool({ entry: TONE, create: {} });
  const { report } = await drain(
    pool.speak(scriptOf({ text: "Yes.", history: [turnThat("listens")] }), never()),
  );
  assert.deepEqual(report, { stop: "finished", spoken: "Yes." });
});

/** Opens an utterance whose earlier turn is the command for `analyseHistory`. */
function begin(pool: WorkerPool, how: string) {
  const controller = new AbortController();
  const speech = pool.speak(scriptOf({ text: "speak", history: [turnThat(how)] }), controller.signal);
  return { first: speech.next(), leave: () => controller.abort(new Error("gone")) };
}

function turnThat(text: string): Turn {
  const audio = { samples: new Float32Array(240), sampleRateHz: 24_000, durationS: 0.01, digest: text };
  return { speaker: "0", text, audio };
}

async function analysisBegun(count: Int32Array, times: number): Promise<void> {
  await until(`analysis ${times}`, () => Atomics.load(count, COUNT.analysed) >= times);
}
