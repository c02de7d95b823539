import assert from "node:assert/strict";
import { test } from "node:test";
import { median, percentile } from "../../src/cli/bench/percentile.ts";

const TWENTY = Array.from({ length: 20 }, (_, index) => 20 - index);

test("a percentile is the smallest value that the share does not exceed, whatever their order", () => {
  assert.equal(percentile(TWENTY, 0.95), 19);
  assert.equal(percentile(TWENTY, 0.5), 10);
  assert.equal(percentile(TWENTY, 1), 20);
  assert.equal(percentile(TWENTY, 0), 1);
});

test("the median of an even number of values is between the two in the middle", () => {
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([7]), 7);
});

test("nothing has no percentile", () => {
  assert.throws(() => percentile([], 0.5), RangeError);
  assert.throws(() => median([]), RangeError);
});
