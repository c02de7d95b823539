import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { Worker } from "node:worker_threads";
import { ThreadCalls, type ThreadCallsOptions } from "../../../src/workers/calls/thread-calls.ts";
import { until, within } from "../../waiting.ts";

const STARTS = 0;
const DONE = 1;
const GATE = 2;
const THROUGH = 3;

async function withCalls(
  options: Partial<ThreadCallsOptions>,
  work: (calls: ThreadCalls, cells: Int32Array) => Promise<void>,
): Promise<void> {
  const cells = new Int32Array(new SharedArrayBuffer(16));
  const calls = new ThreadCalls({
    name: "the odd thread",
    start: () => oddThread(cells),
    queueDepth: 8,
    deadlineMs: 60_000,
    fromWire: (message) => new RangeError(String(message)),
    ...options,
  });
  try {
    await work(calls, cells);
  } finally {
    open(cells);
    await calls.close();
  }
}

function oddThread(cells: Int32Array): Worker {
  return new Worker(new URL("./odd-thread.js", import.meta.url), {
    workerData: { cells },
    resourceLimits: { maxOldGenerationSizeMb: 32 },
  });
}

function open(cells: Int32Array): void {
  Atomics.store(cells, GATE, 1);
  Atomics.notify(cells, GATE);
}

async function begun(cells: Int32Array, count: number): Promise<void> {
  await until(`the thread to begin with call ${count}`, () => Atomics.load(cells, DONE) >= count);
}

describe("thread calls", () => {
  it("return or throw in order", async () => {
    await withCalls({}, async (calls, cells) => {
      const sums = [1, 2, 3].map((n) => calls.call("add", [n, n]));
      assert.deepEqual(await Promise.all(sums), [2, 4, 6]);
      await assert.rejects(calls.call("refuse", []), { name: "RangeError", message: "not that" });
      assert.equal(await calls.call("add", [1, 1]), 2);
      assert.equal(cells[STARTS], 1);
    });
  });

  it("run one at a time if they are asynchronous", async () => {
    await withCalls({}, async (calls) => {
      const answers = [
        calls.call("addLater", [1, 1]),
        calls.call("add", [2, 2]),
        calls.call("addLater", [3, 3]),
      ];
      assert.deepEqual(await Promise.all(answers), [2, 4, 6]);
      await assert.rejects(calls.call("refuseLater", []), { message: "not that either" });
    });
  });

  it("fail alone if their arguments cannot be cloned", async () => {
    await withCalls({}, async (calls) => {
      await assert.rejects(calls.call("add", [() => {}]), { name: "DataCloneError" });
      assert.equal(await calls.call("add", [1, 1]), 2);
    });
  });

  it("are refused when the queue is full", async () => {
    await withCalls({ queueDepth: 1 }, async (calls, cells) => {
      const held = calls.call("hold", []);
      const waits = calls.call("add", [1, 1]);
      await assert.rejects(calls.call("add", [2, 2]), { name: "ThreadError", problem: "full" });
      open(cells);
      assert.deepEqual(await Promise.all([held, waits]), ["held", 2]);
    });
  });

  it("are never run if they are aborted while queued", async () => {
    await withCalls({}, async (calls, cells) => {
      const held = calls.call("hold", []);
      const gone = new AbortController();
      const left = calls.call("add", [1, 1], { signal: gone.signal });
      const stays = calls.call("add", [2, 2]);
      gone.abort(new Error("gone"));
      await assert.rejects(left, { message: "gone" });
      open(cells);
      assert.deepEqual(await Promise.all([held, stays]), ["held", 4]);
      assert.equal(cells[DONE], 2);
      await assert.rejects(calls.call("add", [1, 1], { signal: gone.signal }), { message: "gone" });
      assert.equal(cells[DONE], 2, "an aborted signal runs nothing");
    });
  });

  it("run in order of rank, without overtaking a call twice", async () => {
    await withCalls({}, async (calls, cells) => {
      const ends: string[] = [];
      const made = (name: string, rank: number) =>
        calls.call("add", [1, 1], { rank }).then(() => ends.push(name));
      const held = calls.call("hold", []);
      const all = [made("late", 9), made("later", 9), made("new", 0), made("newer", 0), made("newest", 0)];
      open(cells);
      await Promise.all([held, ...all]);
      assert.deepEqual(ends, ["new", "late", "newer", "later", "newest"]);
    });
  });

  it("end the thread on abort if they are marked so; others move to the next thread", async () => {
    await withCalls({}, async (calls, cells) => {
      assert.equal(await calls.call("add", [1, 1]), 2);
      const gone = new AbortController();
      const spinning = calls.call("spin", [], { signal: gone.signal, isEndedByAbort: true });
      const other = calls.call("add", [2, 2]);
      gone.abort(new Error("gone"));
      await assert.rejects(spinning, { message: "gone" });
      assert.equal(await other, 4);
      assert.equal(cells[STARTS], 2);
      assert.equal(calls.isWell, true, "an abort is no failure");
    });
  });

  for (const death of ["die", "eat"]) {
    it(`that kill their thread (${death}) fail alone; others move to the next thread`, async () => {
      const failures: string[] = [];
      let recoveries = 0;
      await withCalls(
        { onFailure: ({ problem }) => failures.push(problem), onRecovery: () => recoveries++ },
        async (calls, cells) => {
          const deadly = calls.call(death, []);
          const others = [calls.call("add", [1, 1]), calls.call("add", [2, 2])];
          await assert.rejects(deadly, { name: "ThreadError", problem: "ended" });
          assert.equal(calls.isWell, false);
          assert.deepEqual(await Promise.all(others), [2, 4]);
          assert.equal(calls.isWell, true);
          assert.deepEqual([failures, recoveries, cells[STARTS]], [["ended"], 1, 2]);
        },
      );
    });
  }

  it("are retried once if they are repeatable and the thread dies", async () => {
    await withCalls({}, async (calls, cells) => {
      assert.equal(await calls.call("dieOnce", [], { repeatable: true }), "lived");
      assert.equal(cells[STARTS], 2);
      await assert.rejects(calls.call("die", [], { repeatable: true }), { problem: "ended" });
    });
  });

  it("replace the thread on timeout; others move to the next thread", async () => {
    await withCalls({}, async (calls, cells) => {
      // Wait for the thread's start, which may be slow.
      assert.equal(await calls.call("add", [1, 1]), 2);
      const stuck = calls.call("spin", [], { repeatable: true, deadlineMs: 200 });
      const other = calls.call("add", [1, 1]);
      await assert.rejects(stuck, { name: "ThreadError", problem: "late" });
      assert.equal(await other, 2);
      assert.equal(cells[STARTS], 2);
    });
  });

  it("use the default deadline if they have none", async () => {
    await withCalls({ deadlineMs: 200 }, async (calls) => {
      await assert.rejects(calls.call("spin", []), { problem: "late" });
    });
  });

  it("in native code are not interrupted on timeout; the thread ends afterwards", async () => {
    const cells = new Int32Array(new SharedArrayBuffer(16));
    const threads: Worker[] = [];
    const start = () => {
      const thread = oddThread(cells);
      threads.push(thread);
      return thread;
    };
    await withCalls({ isNative: true, start }, async (calls) => {
      await assert.rejects(calls.call("hold", [], { deadlineMs: 200 }), { problem: "late" });
      assert.equal(await calls.call("add", [1, 1]), 2);
      const ended = once(threads[0]!, "exit");
      open(cells);
      await ended;
      assert.deepEqual([cells[STARTS], cells[THROUGH]], [2, 1], "the call finished");
    });
  });

  it("fail alone if no thread starts, and succeed once one does", async () => {
    const cells = new Int32Array(new SharedArrayBuffer(16));
    const failures: string[] = [];
    let isBarred = true;
    const start = () => {
      if (isBarred) throw new Error("no more threads");
      return oddThread(cells);
    };
    await withCalls({ start, onFailure: ({ message }) => failures.push(message) }, async (calls) => {
      const message = "the odd thread cannot be started (no more threads)";
      await assert.rejects(calls.call("add", [1, 1]), { name: "ThreadError", problem: "ended", message });
      assert.deepEqual([calls.isWell, failures], [false, [message]]);
      isBarred = false;
      assert.equal(await calls.call("add", [1, 1]), 2);
      assert.equal(calls.isWell, true);
    });
  });

  it("detect recovery by a probe without further calls", async () => {
    let recovered = () => {};
    const recovery = new Promise<void>((resolve) => {
      recovered = resolve;
    });
    await withCalls({ probe: "refuse", onRecovery: () => recovered() }, async (calls) => {
      await assert.rejects(calls.call("die", []), { problem: "ended" });
      // The probe's timers do not keep the process alive.
      const alive = setInterval(() => {}, 60_000);
      await within("its recovery", recovery);
      clearInterval(alive);
      assert.equal(calls.isWell, true);
    });
  });

  it("can be the last of their thread; others move to the next thread", async () => {
    await withCalls({}, async (calls, cells) => {
      const sums = [calls.call("add", [1, 1], { isLast: true }), calls.call("add", [2, 2])];
      assert.deepEqual(await Promise.all(sums), [2, 4]);
      assert.equal(calls.isWell, true);
      assert.equal(cells[STARTS], 2);
    });
  });

  it("end an idle thread and start another when needed", async () => {
    await withCalls({ idleMs: 1 }, async (calls, cells) => {
      await calls.call("add", [1, 1]);
      await until("a second thread", async () => {
        await calls.call("add", [1, 1]);
        return cells[STARTS]! > 1;
      });
      assert.equal(calls.isWell, true);
    });
  });

  it("are rejected on close, queued or running", async () => {
    await withCalls({}, async (calls, cells) => {
      const refusals = [calls.call("spin", []), calls.call("add", [1, 1])].map((refused) =>
        assert.rejects(refused, { problem: "closed" }),
      );
      await calls.close();
      await Promise.all(refusals);
      assert.equal(cells[DONE], 0);
    });
  });

  it("are rejected on close if queued; a native call finishes", async () => {
    await withCalls({ isNative: true }, async (calls, cells) => {
      const held = calls.call("hold", []);
      const waits = calls.call("add", [1, 1]);
      await begun(cells, 1);
      const closing = calls.close();
      await assert.rejects(waits, { problem: "closed" });
      await assert.rejects(calls.call("add", [1, 1]), { problem: "closed" });
      open(cells);
      assert.equal(await held, "held");
      await closing;
    });
  });
});
