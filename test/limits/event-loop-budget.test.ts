import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { EventBudget, EventLoopShare, KeyBudgets } from "../../src/limits/event-loop-budget.ts";
import { until } from "../waiting.ts";

describe("an event budget", () => {
  test("is available up to its burst, and refills at its rate", () => {
    let nowMs = 0;
    const budget = new EventBudget({ burst: 5_000, perS: 1_000 }, () => nowMs);
    budget.spend(4_999);
    assert.equal(budget.waitMs, 0);
    budget.spend(1);
    assert.equal(budget.waitMs, 1);
    nowMs += 1;
    assert.equal(budget.waitMs, 0);
    budget.spend(2_000);
    assert.equal(budget.waitMs, 2_000);
    assert.equal(budget.hasReserve, false);
    nowMs += 1_000_000;
    assert.equal(budget.hasReserve, true);
    budget.spend(5_000);
    assert.equal(budget.waitMs, 1);
  });

  test("is shared by the connections of a key, and dropped with the last", () => {
    const budgets = new KeyBudgets();
    const [first, second, other] = [budgets.open("a"), budgets.open("a"), budgets.open("b")];
    assert.equal(first.budget, second.budget);
    assert.notEqual(first.budget, other.budget);
    first.close();
    assert.equal(budgets.open("a").budget, second.budget);
    for (const each of [second, second]) each.close();
    assert.notEqual(budgets.open("a").budget, second.budget);
  });
});

/** Takes turns and notes each. */
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
    // Work across promises counts as the same turn.
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
