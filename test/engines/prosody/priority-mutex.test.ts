import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PriorityMutex } from "../../../src/engines/prosody/priority-mutex.ts";
import { never } from "../../core/scripts.ts";

describe("PriorityMutex", () => {
  test("runs one job at a time, urgent ones first, others in order", async () => {
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
    const jobs = [..."abcde"].map((name) => pass(name, name === "c" || name === "e"));
    await Promise.all(jobs);
    assert.deepEqual(done, ["a", "c", "e", "b", "d"]);
  });

  test("alternates long-waiting jobs with urgent ones", async () => {
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

  test("continues after a failure, and skips an aborted job", async () => {
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
