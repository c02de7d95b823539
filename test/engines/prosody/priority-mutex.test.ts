import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PriorityMutex } from "../../../src/engines/prosody/priority-mutex.ts";
import { never } from "../../core/scripts.ts";

describe("A priority mutex", () => {
  test("lets one job through at a time, urgent ones first, the others in their order", async () => {
    const mutex = new PriorityMutex(() => 0);
    const done: string[] = [];
    let inside = 0;
    const job = (name: string) => async () => {
      assert.equal(++inside, 1);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      done.push(name);
    };
    const pass = (name: string, isUrgent: boolean) => mutex.pass(job(name), never(), isUrgent);
    await Promise.all([
      pass("a", false),
      pass("b", false),
      pass("c", true),
      pass("d", false),
      pass("e", true),
    ]);
    assert.deepEqual(done, ["a", "c", "e", "b", "d"]);
  });

  test("lets those who have waited for long take turns with the urgent", async () => {
    let nowMs = 0;
    const mutex = new PriorityMutex(() => nowMs);
    const done: string[] = [];
    const pass = (name: string, isUrgent: boolean) =>
      mutex.pass(
        async () => {
          nowMs += 25;
          done.push(name);
        },
        never(),
        isUrgent,
      );
    const patient = ["p", "q", "r"].map((name) => pass(name, false));
    await Promise.all([...patient, ...["1", "2", "3", "4", "5", "6"].map((name) => pass(name, true))]);
    assert.deepEqual(done, ["p", "1", "2", "3", "q", "4", "r", "5", "6"]);
  });

  test("goes on after a job that failed, and skips one whose signal aborted while it waited", async () => {
    const mutex = new PriorityMutex();
    const gone = new AbortController();
    const failing = mutex.pass(async () => Promise.reject(new Error("failed")), never(), false);
    const skipped = mutex.pass(async () => assert.fail("ran"), gone.signal, false);
    const last = mutex.pass(async () => "done", never(), false);
    const reason = new Error("gone");
    gone.abort(reason);
    const results = await Promise.allSettled([failing, skipped, last]);
    assert.deepEqual(
      results.map((result) => (result.status === "fulfilled" ? result.value : result.reason.message)),
      ["failed", "gone", "done"],
    );
  });
});
