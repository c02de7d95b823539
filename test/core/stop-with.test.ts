import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { mock, test } from "node:test";
import { stopWith } from "../../src/core/stop-with.ts";

test("it aborts with the first parent to abort, for its reason", () => {
  for (const which of [0, 1]) {
    const parents = [new AbortController(), new AbortController()] as const;
    const stop = stopWith(parents.map(({ signal }) => signal));
    assert.equal(stop.signal.aborted, false);
    const reason = new Error(`parent ${which}`);
    parents[which]!.abort(reason);
    parents[1 - which]!.abort(new Error("later"));
    assert.equal(stop.signal.reason, reason);
    stop.end();
  }
});

test("an aborted parent stops it at once", () => {
  const reason = new Error("gone");
  assert.equal(stopWith([new AbortController().signal, AbortSignal.abort(reason)]).signal.reason, reason);
});

test("it aborts after its time unless ended or aborted before", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const late = new Error("late");
    const limit = { ms: 100, late: () => late };
    const [waiting, ended, stopped] = [stopWith([], limit), stopWith([], limit), stopWith([], limit)];
    const own = new Error("own");
    stopped.abort(own);
    mock.timers.tick(99);
    assert.equal(waiting.signal.aborted, false);
    ended.end();
    mock.timers.tick(1);
    assert.equal(waiting.signal.reason, late);
    assert.equal(ended.signal.aborted, false);
    assert.equal(stopped.signal.reason, own);
  } finally {
    mock.timers.reset();
  }
});

test("once ended it leaves no listener on its parents", () => {
  const parent = new AbortController();
  const stop = stopWith([parent.signal, parent.signal]);
  assert.equal(getEventListeners(parent.signal, "abort").length, 1);
  stop.end();
  stop.end();
  assert.equal(getEventListeners(parent.signal, "abort").length, 0);
  parent.abort();
  assert.equal(stop.signal.aborted, false);
});
