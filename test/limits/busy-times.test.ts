import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BusyTimes } from "../../src/limits/busy-times.ts";

describe("what keys have used lately", () => {
  test("is a mean that forgets within minutes", () => {
    let nowMs = 0;
    const busy = new BusyTimes(() => nowMs);
    for (let second = 0; second < 300; second += 1) {
      nowMs += 1_000;
      busy.add("a", 500);
      busy.add("b", 100);
    }
    assert.ok(Math.abs(busy.of("a") - 0.5) < 0.02, `${busy.of("a")}`);
    assert.ok(Math.abs(busy.total - 0.6) < 0.02, `${busy.total}`);
    assert.equal(busy.keys, 2);
    nowMs += 400_000;
    assert.equal(busy.keys, 0);
    assert.equal(busy.of("c"), 0);
  });
});
