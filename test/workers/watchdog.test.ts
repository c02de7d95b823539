import assert from "node:assert/strict";
import { test } from "node:test";
import { Watchdog } from "../../src/workers/watchdog.ts";

const PING_MS = 500;

test("pings at once on new work, then periodically while busy", (context) => {
  const { thread, pulse, tick } = watched(context);
  assert.equal(thread.asked, 0);
  pulse.begin();
  assert.equal(thread.asked, 1);
  for (let i = 0; i < 5; i++) {
    pulse.answered();
    tick();
  }
  assert.equal(thread.asked, 6);
});

test("does not ping an idle thread, and has no timer", (context) => {
  const { thread, pulse, tick } = watched(context);
  pulse.begin();
  pulse.answered();
  thread.isBusy = false;
  for (let i = 0; i < 100; i++) tick();
  assert.equal(thread.asked, 1);
  pulse.begin();
  assert.equal(thread.asked, 2, "pings at once on new work");
});

test("pings once more after the last listener leaves", (context) => {
  const { thread, pulse, tick } = watched(context);
  pulse.begin();
  pulse.answered();
  thread.isBusy = false;
  pulse.begin();
  tick();
  assert.equal(thread.asked, 2);
  for (let i = 0; i < 100; i++) tick();
  assert.equal(thread.hung, 1, "the overdue answer is detected");
});

test("an answer is overdue after two intervals, until it comes", (context) => {
  const { thread, pulse, tick } = watched(context);
  pulse.begin();
  tick();
  assert.ok(pulse.isAnswering);
  tick();
  assert.ok(!pulse.isAnswering);
  assert.equal(thread.asked, 1, "no ping while an answer is due");
  pulse.answered();
  assert.ok(pulse.isAnswering);
});

test("a thread that answers just in time is kept", (context) => {
  const { thread, pulse, tick } = watched(context);
  for (let round = 0; round < 3; round++) {
    pulse.begin();
    for (let i = 0; i < 19; i++) tick();
    pulse.answered();
    tick();
  }
  assert.equal(thread.hung, 0);
});

test("a thread is reported hung once, and not pinged again", (context) => {
  const { thread, pulse, tick } = watched(context);
  pulse.begin();
  for (let i = 0; i < 100; i++) tick();
  assert.equal(thread.hung, 1);
  pulse.begin();
  for (let i = 0; i < 100; i++) tick();
  assert.deepEqual([thread.hung, thread.asked], [1, 1]);
});

test("a stopped watchdog reports nothing", (context) => {
  const { thread, pulse, tick } = watched(context);
  pulse.begin();
  pulse.stop();
  for (let i = 0; i < 100; i++) tick();
  assert.equal(thread.hung, 0);
});

function watched(context: { readonly mock: typeof import("node:test").mock }) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const thread = { asked: 0, hung: 0, isBusy: true };
  const pulse = new Watchdog({
    pingMs: PING_MS,
    stallMs: 20 * PING_MS,
    ask: () => void thread.asked++,
    isBusy: () => thread.isBusy,
    onHung: () => void thread.hung++,
  });
  return { thread, pulse, tick: () => context.mock.timers.tick(PING_MS) };
}
