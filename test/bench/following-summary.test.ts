import assert from "node:assert/strict";
import { test } from "node:test";
import { furthest, least, mean, most, type Named, signed } from "../../bench/following/summary.ts";
import { fours } from "../../bench/fours.ts";

const PEOPLE: readonly Named[] = [
  ["ann", 0.5],
  ["ben", -2],
  ["cay", 1.5],
];

test("figures of several people are summed up with the names of those who stand out", () => {
  assert.equal(mean(PEOPLE.map(([, value]) => value)), 0);
  assert.deepEqual([least(PEOPLE)[0], most(PEOPLE)[0], furthest(PEOPLE)[0]], ["ben", "cay", "ben"]);
});

test("a sign is shown where there is one after rounding", () => {
  assert.deepEqual([signed(1.25, 1), signed(-0.26, 1), signed(-0.04, 1)], ["+1.3", "−0.3", "0.0"]);
});

test("four at a time, and no incomplete four", () => {
  assert.deepEqual(fours([1, 2, 3, 4, 5, 6, 7, 8, 9]), [
    [1, 2, 3, 4],
    [5, 6, 7, 8],
  ]);
});
