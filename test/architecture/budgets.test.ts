import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { exceeded, measureTree, typesDeclaredTwice } from "./measure-tree.ts";
import { TOP } from "./top.ts";

/** Upper limits that may be lowered and never raised: a change that needs more removes something else first. */
const budgets = JSON.parse(readFileSync(join(TOP, "test/architecture/budgets.json"), "utf8")) as Record<
  string,
  Record<string, number>
>;
const measured = measureTree(TOP);

for (const [what, limits] of Object.entries(budgets)) {
  test(`${what} stay within their budgets`, () => {
    const figures = measured[what];
    assert.ok(figures, `budgets.json names ${what}, which measure-tree.ts does not count`);
    assert.deepEqual(exceeded(figures, limits), []);
  });
}

test("budgets.json has a budget for every figure of lines, files and comment words", () => {
  for (const what of ["lines", "files", "comment words"]) {
    assert.deepEqual(Object.keys(measured[what] ?? {}).sort(), Object.keys(budgets[what] ?? {}).sort(), what);
  }
});

test("an exported type name is declared once in src", () => {
  assert.deepEqual(typesDeclaredTwice(TOP), []);
});

test("a figure over its budget is reported with the difference, and one without a budget as such", () => {
  assert.deepEqual(exceeded({ a: 12, b: 3, c: 1 }, { a: 10, b: 3 }), [
    "a: 12, 2 over its budget of 10",
    "c: 1, no budget",
  ]);
  assert.deepEqual(exceeded({ a: 12, b: 3 }, { "*": 10, a: 12 }), []);
  assert.deepEqual(exceeded({ b: 30 }, { "*": 10, a: 12 }), ["b: 30, 20 over its budget of 10"]);
});
