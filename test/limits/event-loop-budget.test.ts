import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EventBudget, KeyBudgets } from "../../src/limits/event-loop-budget.ts";

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
