import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { SpeechModel } from "../../src/core/speech-model.ts";
import type { OpenMessage } from "../../src/workers/protocol.ts";
import { createScheduler, TimeShares } from "../../src/workers/scheduler.ts";
import { WorkerUtterance } from "../../src/workers/worker-utterance.ts";
import { LONG_TEXT, SHORT_TEXT, scriptOf } from "../core/scripts.ts";
import { createToneModel } from "../core/tone-model.ts";
import { within } from "../waiting.ts";

const threads = new Set<{ close(): Promise<void> }>();
afterEach(async () => {
  for (const thread of threads) await thread.close();
  threads.clear();
});

test("a new utterance's first frame comes before the tenth of the others", async () => {
  const thread = await createThread();
  thread.open(1, LONG_TEXT, 100);
  thread.open(2, LONG_TEXT, 100);
  await thread.frames(10);
  thread.open(3, LONG_TEXT, 100);
  await thread.frames(12);
  assert.ok(thread.log.slice(10, 12).includes(3), thread.log.join(" "));
});

test("utterances with the same due time take turns", async () => {
  const thread = await createThread();
  thread.open(1, LONG_TEXT, 100);
  thread.open(2, LONG_TEXT, 100);
  await thread.frames(20);
  const ones = thread.log.slice(0, 20).filter((id) => id === 1).length;
  assert.ok(ones >= 9 && ones <= 11, thread.log.join(" "));
});

test("a greedy reader does not delay a real-time reader", async () => {
  const thread = await createThread();
  thread.open(1, LONG_TEXT, 1_000);
  thread.open(2, LONG_TEXT, 1);
  await thread.frames(40);
  const before = thread.log.length;
  thread.nowMs = 80;
  thread.utterance(2).grant(1);
  await thread.frames(before + 2);
  assert.ok(thread.log.slice(before, before + 2).includes(2), thread.log.join(" "));
});

test("an utterance without credit computes nothing", async () => {
  const thread = await createThread();
  thread.open(1, LONG_TEXT, 2);
  thread.open(2, LONG_TEXT, 30);
  await thread.frames(32);
  assert.equal(thread.log.filter((id) => id === 1).length, 2);
});

test("a reader idle for a minute is due now, without a backlog", async () => {
  const thread = await createThread();
  thread.open(1, LONG_TEXT, 1);
  await thread.frames(1);
  thread.nowMs = 60_000;
  thread.utterance(1).grant(100);
  assert.equal(thread.utterance(1).dueMs, 60_000);
});

test("an utterance that analysed for a minute is due now, without a backlog", async () => {
  const thread = await createThread();
  thread.open(1, LONG_TEXT, 1);
  thread.nowMs = 60_000;
  await thread.utterance(1).analyseHistory();
  assert.equal(thread.utterance(1).dueMs, 60_000);
});

test("an utterance waiting for text does not delay others, and continues when it arrives", async () => {
  const thread = await createThread();
  thread.open(1, null, 100);
  thread.open(2, LONG_TEXT, 20);
  await thread.frames(20);
  assert.ok(!thread.log.includes(1));
  thread.utterance(1).deliver({ piece: SHORT_TEXT });
  await thread.frames(25);
  assert.deepEqual(thread.log.slice(20, 25), [1, 1, 1, 1, 1]);
});

test("a stopped utterance yields no further frame", async () => {
  const thread = await createThread();
  thread.open(1, LONG_TEXT, 100);
  thread.open(2, LONG_TEXT, 100);
  await thread.frames(6);
  thread.utterance(1).stop(new Error("gone"));
  const before = thread.log.length;
  await thread.frames(before + 10);
  assert.ok(!thread.log.slice(before).includes(1), thread.log.join(" "));
  assert.deepEqual(thread.failures, []);
});

test("a failing model is reported once, and the others continue", async () => {
  const thread = await createThread(await createToneModel({ failAtFrame: 5 }));
  thread.open(1, LONG_TEXT, 100);
  thread.open(2, LONG_TEXT, 3);
  await thread.frames(8);
  await within("the failure", thread.failed);
  assert.deepEqual(thread.failures, ["the tone model fails at frame 5"]);
});

test("between() calls back when idle and while an utterance waits for text", async () => {
  const thread = await createThread();
  await thread.between();
  thread.open(1, null, 100);
  await thread.between();
  thread.open(2, LONG_TEXT, 20);
  await thread.frames(20);
  await thread.between();
});

test("between() does not call back during a step", async () => {
  const tone = await createToneModel();
  let goOn = (): void => {};
  const held = new Promise<void>((resolve) => (goOn = resolve));
  const thread = await createThread({
    ...tone,
    async *speak(script, signal) {
      await held;
      return yield* tone.speak(script, signal);
    },
  });
  thread.open(1, LONG_TEXT, 3);
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  const order: string[] = [];
  const called = thread.between().then(() => order.push("called"));
  for (let turn = 0; turn < 5; turn++) await setImmediate();
  order.push("step");
  goOn();
  await called;
  assert.deepEqual(order, ["step", "called"]);
});

test("late utterances share time by key, however many each key has", async () => {
  let nowMs = 1_000;
  const scheduler = createScheduler(() => nowMs);
  const order: string[] = [];
  let done = (): void => {};
  const finished = new Promise<void>((resolve) => (done = resolve));
  const task = (keyId: string, dueMs: number) => ({
    keyId,
    dueMs,
    isRunnable: true,
    async step() {
      order.push(keyId);
      nowMs += 10;
      if (order.length === 40) done();
    },
  });
  for (let i = 0; i < 10; i++) scheduler.add(task("many", i));
  scheduler.add(task("one", 900));
  scheduler.add(task("ahead", 1e9));
  await within("forty steps", finished);
  await scheduler.stop();
  const ones = order.slice(0, 40).filter((keyId) => keyId === "one").length;
  assert.ok(ones >= 19 && ones <= 21, order.join(" "));
  assert.ok(!order.includes("ahead"), "who is ahead of time waits for who is late");
});

test("a new key starts without saved time", async () => {
  const shares = new TimeShares();
  shares.charge("a", 500);
  shares.charge("a", 500);
  assert.equal(shares.usedMs("b"), 500);
  shares.charge("b", 100);
  assert.deepEqual([shares.usedMs("a"), shares.usedMs("b")], [1_000, 600]);
  shares.forget("a");
  assert.equal(shares.usedMs("a"), 500);
});

/** A worker on a manual clock that logs the utterance of each frame. */
async function createThread(given?: SpeechModel) {
  const model = given ?? (await createToneModel());
  const scheduler = createScheduler();
  const utterances = new Map<number, WorkerUtterance>();
  const log: number[] = [];
  const failures: string[] = [];
  let wanted = 0;
  let reached = (): void => {};
  let markFailed = (): void => {};
  const failed = new Promise<void>((resolve) => (markFailed = resolve));

  const thread = {
    nowMs: 0,
    log,
    failures,
    failed,
    open(id: number, text: string | null, credit: number): void {
      const { text: _, ...script } = scriptOf();
      const message: OpenMessage = {
        kind: "open",
        id,
        credit,
        encoding: null,
        script,
      };
      const utterance: WorkerUtterance = new WorkerUtterance(model, message, {
        onPull: () => utterance.deliver("end"),
        onFrames(frames) {
          log.push(...frames.map(() => id));
          if (log.length >= wanted) reached();
        },
        onEnd: () => scheduler.remove(utterance),
        onFail(thrown) {
          scheduler.remove(utterance);
          failures.push((thrown as Error).message);
          markFailed();
        },
        onRunnable: () => scheduler.wake(),
        now: () => thread.nowMs,
        takeWorkMs: () => scheduler.takeWorkMs(),
      });
      utterances.set(id, utterance);
      scheduler.add(utterance);
      if (text !== null) utterance.deliver({ piece: text });
    },
    between: () => new Promise<void>((resolve) => scheduler.between(resolve)),
    utterance(id: number): WorkerUtterance {
      return utterances.get(id) ?? assert.fail(`no utterance ${id}`);
    },
    async frames(count: number): Promise<void> {
      wanted = count;
      const enough = new Promise<void>((resolve) => (reached = resolve));
      if (log.length < count) await within(`${count} frames`, enough);
    },
    async close(): Promise<void> {
      for (const utterance of utterances.values()) utterance.stop(new Error("over"));
      await scheduler.stop();
      await model.close();
    },
  };
  threads.add(thread);
  return thread;
}
