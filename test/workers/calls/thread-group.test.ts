import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { ThreadGroup } from "../../../src/workers/calls/thread-group.ts";

test("groups with native code share one exit listener", async () => {
  const before = process.listenerCount("exit");
  const threads = Array.from({ length: 3 }, () =>
    new ThreadGroup({ isNative: true }).start(
      () => new Worker("setInterval(() => {}, 1000)", { eval: true }),
    ),
  );
  const during = process.listenerCount("exit");
  for (const thread of threads) thread.end();
  await Promise.all(threads.map(({ exited }) => exited));
  assert.equal(during, before + 1);
  assert.equal(process.listenerCount("exit"), before);
});
