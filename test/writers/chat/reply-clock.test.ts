import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, mock, test } from "node:test";
import { ReplyClock, ReplyTimeoutError } from "../../../src/writers/chat/reply-clock.ts";
import { never } from "../dialogues.ts";

const LIMITS = { firstTokenTimeoutMs: 400, totalTimeoutMs: 1_000, lingerMs: 50 };
const forever = () => new Promise<never>(() => {});

describe("ReplyClock", () => {
  let nowMs = 0;
  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout"] });
    mock.method(performance, "now", () => nowMs);
  });
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });

  const pass = (ms: number) => {
    nowMs += ms;
    mock.timers.tick(ms);
  };
  /** Waits for a promise that resolves after `ms`. */
  const waited = async (clock: ReplyClock, ms: number) => {
    let come = () => {};
    const waiting = clock.wait(new Promise<void>((resolve) => (come = resolve)), never());
    pass(ms);
    come();
    await waiting;
  };
  /** Waits for a promise that never settles; returns the limit that ended the wait and its time. */
  const gaveUp = async (clock: ReplyClock) => {
    let error: unknown = null;
    const startMs = nowMs;
    const waiting = clock.wait(forever(), never()).catch((thrown: unknown) => {
      error = thrown;
    });
    for (let i = 0; error === null && i < 2_000; i++) {
      pass(1);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await waiting;
    assert.ok(error instanceof ReplyTimeoutError, String(error));
    return [error.limit, nowMs - startMs];
  };

  test("counts the time to the first token over all waits", async () => {
    const clock = new ReplyClock(LIMITS);
    assert.equal(clock.leftMs, 400);
    await waited(clock, 250);
    await waited(clock, 100);
    assert.equal(clock.leftMs, 50);
    assert.deepEqual(await gaveUp(clock), ["begin", 50]);
    assert.equal(clock.leftMs, 0);
  });

  test("restarts with every token, and then reports silence", async () => {
    const clock = new ReplyClock(LIMITS);
    await waited(clock, 300);
    clock.tokenReceived();
    assert.equal(clock.leftMs, 400);
    await waited(clock, 200);
    clock.tokenReceived();
    assert.deepEqual(await gaveUp(clock), ["silence", 400]);
  });

  test("does not restart for a wait without a token", async () => {
    const clock = new ReplyClock(LIMITS);
    clock.tokenReceived();
    await waited(clock, 150);
    await waited(clock, 150);
    assert.deepEqual(await gaveUp(clock), ["silence", 100]);
  });

  test("ends an endless reply at totalTimeoutMs", async () => {
    const clock = new ReplyClock(LIMITS);
    for (let i = 0; i < 3; i++) {
      await waited(clock, 300);
      clock.tokenReceived();
    }
    assert.equal(clock.leftMs, 100);
    assert.deepEqual(await gaveUp(clock), ["total", 100]);
  });

  test("allows lingerMs after the last word, once", async () => {
    const clock = new ReplyClock(LIMITS);
    clock.tokenReceived();
    clock.replyFinished();
    await waited(clock, 30);
    clock.tokenReceived();
    clock.replyFinished();
    assert.deepEqual(await gaveUp(clock), ["linger", 20]);
  });

  test("counts waits alone, not the time between them", async () => {
    const clock = new ReplyClock(LIMITS);
    await waited(clock, 100);
    nowMs += 60_000;
    assert.equal(clock.leftMs, 300);
    assert.deepEqual(await gaveUp(clock), ["begin", 300]);
  });

  test("counts a wait that failed or was aborted, and throws the reason", async () => {
    const clock = new ReplyClock(LIMITS);
    const failing = clock.wait(Promise.reject(new Error("no")), never());
    nowMs += 100;
    await assert.rejects(failing, /no/);
    const leaving = new AbortController();
    const left = clock.wait(forever(), leaving.signal);
    nowMs += 100;
    leaving.abort(new Error("gone"));
    await assert.rejects(left, /gone/);
    assert.equal(clock.leftMs, 200);
  });
});
