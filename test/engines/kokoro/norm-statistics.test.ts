import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fitNormStatistics, normStatisticsFor } from "../../../src/engines/kokoro/norm-statistics.ts";

const measured = (steps: number, ...statistics: number[]) => ({
  steps,
  statistics: Float32Array.from(statistics),
});

describe("fitNormStatistics", () => {
  test("fits a line over the inverse of the length", () => {
    const of = (steps: number) => measured(steps, 2 + 100 / steps, -1 - 50 / steps);
    const line = fitNormStatistics([of(60), of(100), of(200)]);
    for (const steps of [60, 80, 400]) {
      const [first, second] = normStatisticsFor(line, steps);
      assert.ok(Math.abs(first! - (2 + 100 / steps)) < 1e-4);
      assert.ok(Math.abs(second! - (-1 - 50 / steps)) < 1e-4);
    }
  });

  test("stays positive, and is constant below 1 s", () => {
    const line = fitNormStatistics([measured(60, 1), measured(120, 2)]);
    // The line itself is −0.5 at 24 steps.
    assert.ok(normStatisticsFor(line, 40)[0]! >= 0.3 - 1e-6);
    assert.deepEqual(normStatisticsFor(line, 10), normStatisticsFor(line, 40));
  });
});
