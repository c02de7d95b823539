import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { EventLoopShare } from "../../src/limits/event-loop-budget.ts";
import { until } from "../waiting.ts";

/** Asks so often, one time after the other, and notes each of its turns, which takes so long by the clock given. */
async function busy(
  turns: EventLoopShare,
  name: string,
  times: number,
  noted: string[],
  work: () => void,
): Promise<void> {
  for (let i = 0; i < times; i++) {
    await turns.next();
    noted.push(name);
    // Work that goes through promises is its own all the same.
    for (let hop = 0; hop < 5; hop++) await null;
    work();
  }
}

test("busy callers take turns in the order of asking", async () => {
  const turns = new EventLoopShare(() => 0);
  const noted: string[] = [];
  await Promise.all(["a", "b", "c"].map((name) => busy(turns, name, 3, noted, () => {})));
  assert.equal(noted.join(""), "abcabcabc");
});

test("callers share a millisecond, then yield to the event loop", async () => {
  let nowMs = 0;
  const turns = new EventLoopShare(() => nowMs);
  const noted: string[] = [];
  const work = () => {
    nowMs += 0.3;
  };
  const all = Promise.all(["a", "b", "c"].map((name) => busy(turns, name, 40, noted, work)));
  let isOver = false;
  void all.then(() => {
    isOver = true;
  });
  const counts: number[] = [];
  await until("all of it being done", async () => {
    const before = noted.length;
    await turn();
    counts.push(noted.length - before);
    return isOver;
  });
  assert.equal(noted.length, 120);
  assert.ok(Math.max(...counts) <= 4, `${counts}`);
});

test("a late caller does not wait for a busy one", async () => {
  const turns = new EventLoopShare(() => 0);
  const noted: string[] = [];
  const first = busy(turns, "a", 50, noted, () => {});
  await turns.next();
  noted.push("late");
  assert.ok(noted.indexOf("late") <= 2, `${noted}`);
  await first;
});
