import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { SpeechFailedError } from "../../src/core/speech-model.ts";
import { createBatchScheduler } from "../../src/workers/scheduler.ts";
import { createWorkerPool, type WorkerPoolOptions } from "../../src/workers/worker-pool.ts";
import { never, scriptOf } from "../core/scripts.ts";
import { speechModelConformance } from "../core/speech-model-conformance.ts";
import { until, within } from "../waiting.ts";
import { COUNT } from "./faulty-model.ts";
import { closePools, faultyPool, openPool, REPORT, TONE } from "./faulty-pool.ts";

afterEach(closePools);

const meeting = new URL("./meeting-model.js", import.meta.url);

speechModelConformance("the tone model in a batching thread", () =>
  createWorkerPool({ entry: TONE, create: {}, size: 1, isBatching: true }),
);

function pool(entry: URL, options: Partial<WorkerPoolOptions> = {}) {
  return openPool({ entry, create: {}, size: 1, isBatching: true, ...options });
}

test("computes the utterances of a thread together, frame by frame", async () => {
  const three = await pool(meeting);
  const spoken = [1, 2, 3].map(() => three.speak(scriptOf({ text: "3" }), never()));
  for (let frame = 0; frame < 20; frame++) {
    const steps = spoken.map((speech) => speech.next());
    await within("three frames", Promise.all(steps));
  }
  await Promise.all(spoken.map((speech) => speech.return(REPORT)));
});

test("an idle reader gets its credit of frames and does not delay others", async () => {
  const { pool: both, count } = await faultyPool({ isBatching: true, creditFrames: 3 });
  const idle = both.speak(scriptOf({ text: "speak" }), never());
  await idle.next();
  const other = both.speak(scriptOf({ text: "views" }), never());
  for (let frame = 0; frame < 30; frame++) await other.next();
  assert.equal(Atomics.load(count, COUNT.frames), 3);
  await Promise.all([idle.return(REPORT), other.return(REPORT)]);
});

test("a stopped utterance leaves the batch", async () => {
  const two = await pool(meeting);
  const leaving = new AbortController();
  const gone = two.speak(scriptOf({ text: "2" }), leaving.signal);
  const stays = two.speak(scriptOf({ text: "1" }), never());
  const waiting = gone.next();
  leaving.abort(new Error("gone"));
  await assert.rejects(waiting, /gone/);
  for (let frame = 0; frame < 10; frame++) await within("a frame", stays.next());
  await until("one to be open", () => two.stats().open === 1);
  await stays.return(REPORT);
});

test("a killed thread fails all its utterances and is replaced", async () => {
  const two = await pool(meeting);
  const spoken = [1, 2].map(() => two.speak(scriptOf({ text: "2" }), never()));
  await Promise.all(spoken.map((speech) => speech.next()));
  const failing = spoken.map(async (speech) => {
    for (;;) await speech.next();
  });
  const failures = Promise.all(failing.map((each) => assert.rejects(each, SpeechFailedError)));
  await two.terminateOne();
  await within("both to fail", failures);
  const again = two.speak(scriptOf({ text: "1" }), never());
  assert.equal((await within("another thread", again.next())).done, false);
  await again.return(REPORT);
  assert.equal(two.stats().replaced, 1);
});

test("between() calls back during a step; a stopped scheduler begins no step", async () => {
  const together = createBatchScheduler();
  let finish = (): void => {};
  let steps = 0;
  const task = {
    keyId: "",
    dueMs: 0,
    isRunnable: true,
    step: () => {
      steps += 1;
      return new Promise<void>((resolve) => (finish = resolve));
    },
  };
  together.add(task);
  together.wake();
  assert.equal(steps, 1, "a step of a task at a time");
  let isCalled = false;
  together.between(() => {
    isCalled = true;
  });
  assert.ok(isCalled);
  finish();
  await setImmediate();
  assert.equal(steps, 2);
  const stopping = together.stop();
  finish();
  await within("the last step", stopping);
  together.wake();
  assert.equal(steps, 2);
});
