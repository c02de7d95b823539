import assert from "node:assert/strict";
import { test } from "node:test";
import { samplesIn, wholeSamples } from "../../src/audio/format.ts";

test("seconds and factors give whole numbers of samples, and what is no number none", () => {
  assert.equal(samplesIn(0.4), 9_600);
  assert.equal(samplesIn(0.4 * 0.75 * 1.0371), 7_467);
  assert.equal(wholeSamples(-450.5), -450);
  for (const odd of [Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => wholeSamples(odd), /no number of samples/);
  }
});
