import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { SpeechFailedError } from "../../src/core/speech-model.ts";
import type { WorkerPoolOptions } from "../../src/workers/worker-pool.ts";
import { drain, scriptOf } from "../core/scripts.ts";
import { until } from "../waiting.ts";
import { COUNT } from "./faulty-model.ts";
import { closePools, faultyPool, held, openGate, REPORT, speak, takeFrames } from "./faulty-pool.ts";

afterEach(closePools);

/** Pings often for short tests, and waits long enough for a busy machine. */
const QUICK = { pingMs: 20, stallMs: 1_000 } as const;

for (const [how, command] of [
  ["loops forever", "spin"],
  ["blocks forever", "block"],
  ["never finishes a step", "never"],
] as const) {
  test(`a thread that ${how} fails its utterances and is replaced`, async () => {
    const events: string[] = [];
    const { pool } = await faultyPool({ ...QUICK, onEvent: ({ kind }) => events.push(kind) });
    const other = speak(pool, "speak");
    await other.next();
    await assert.rejects(drain(speak(pool, command)), /SpeechFailedError: .*stopped answering/);
    await assert.rejects(drain(other), SpeechFailedError);
    await takeFrames(pool, 5);
    await until("the thread to end", () => pool.stats().lingering === 0);
    assert.deepEqual(pool.stats(), { ...WELL, replaced: 1 });
    assert.deepEqual(events, ["hung"]);
  });
}

test("a hung thread gets no new utterances", async () => {
  const { pool, count } = await faultyPool({ pingMs: 20, stallMs: NEVER_MS, size: 2 });
  const controller = new AbortController();
  const hanging = pool.speak(scriptOf({ text: "hold" }), controller.signal);
  await hanging.next();
  const hung = hanging.next();
  await until("a thread that owes an answer", () => pool.stats().hung === 1);
  controller.abort(new Error("gone"));
  await assert.rejects(hung, /gone/);
  assert.deepEqual(pool.stats(), { ...WELL, size: 2, hung: 1 });
  const others = [speak(pool, "speak"), speak(pool, "speak"), speak(pool, "speak")];
  for (const other of others) for (let i = 0; i < 5; i++) assert.equal((await other.next()).done, false);
  openGate(count);
  await until("its answer", () => pool.stats().hung === 0);
  assert.equal(pool.stats().replaced, 0, "it recovered in time");
  await Promise.all(others.map((other) => other.return(REPORT)));
});

test("a hung thread without listeners is detected by one more ping", async () => {
  const { pool, count } = await faultyPool(QUICK);
  const controller = new AbortController();
  const hanging = pool.speak(scriptOf({ text: "block" }), controller.signal);
  await hanging.next();
  await held(count);
  controller.abort(new Error("gone"));
  await until("another thread", () => pool.stats().replaced === 1);
  await takeFrames(pool, 3);
});

test("a thread in native code is not terminated: it ends itself afterwards", async () => {
  const { pool, count } = await faultyPool(QUICK);
  await assert.rejects(drain(speak(pool, "native")), SpeechFailedError);
  await takeFrames(pool, 5);
  assert.deepEqual(pool.stats(), { ...WELL, replaced: 1, lingering: 1 });
  openGate(count);
  await until("the thread to end", () => pool.stats().lingering === 0);
  assert.equal(Atomics.load(count, COUNT.native), 1);
});

test("lingering threads are bounded; the slot beyond the bound is down until one ends", async () => {
  const events: string[] = [];
  const onEvent: WorkerPoolOptions["onEvent"] = ({ kind }) => events.push(kind);
  const { pool, count } = await faultyPool({ ...QUICK, maxLingering: 2, restartDelayMs: 1, onEvent });
  for (let i = 0; i < 2; i++) await assert.rejects(drain(speak(pool, "native")), SpeechFailedError);
  await until("a broken place", () => pool.stats().broken === 1);
  assert.equal(Atomics.load(count, COUNT.starts), 2);
  await assert.rejects(speak(pool, "speak").next(), /have not ended/);
  openGate(count);
  await until("a thread", () => pool.stats().ready === 1);
  await takeFrames(pool, 5);
  assert.deepEqual(events, ["hung", "hung", "failing", "recovered"]);
});

test("a thread that hangs during start is replaced", async () => {
  const { pool } = await faultyPool(
    { ...QUICK, startTimeoutMs: 2_000 },
    { goodStarts: 1, badStarts: 1, isBadStartHung: true },
  );
  await pool.terminateOne();
  await takeFrames(pool, 5);
  assert.equal(pool.stats().replaced, 2);
});

test("a pool whose thread hangs during start fails", async () => {
  await assert.rejects(
    faultyPool({ startTimeoutMs: 100 }, { goodStarts: 0, isBadStartHung: true }),
    /SpeechFailedError: .*was not ready within 100 ms/,
  );
});

test("a pool closes while its thread hangs", async () => {
  for (const command of ["spin", "native"]) {
    const { pool, count } = await faultyPool({ closeGraceMs: 10 });
    const speech = speak(pool, command);
    await speech.next();
    await held(count);
    await Promise.all([pool.close(), assert.rejects(drain(speech), SpeechFailedError)]);
    openGate(count);
  }
});

const WELL = { size: 1, ready: 1, hung: 0, broken: 0, replaced: 0, lingering: 0, open: 0 } as const;
const NEVER_MS = 2 ** 30;
