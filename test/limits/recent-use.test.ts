import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RecentUse } from "../../src/limits/keyed-semaphore.ts";

describe("recent use", () => {
  test("is a mean that decays within minutes", () => {
    let nowMs = 0;
    const use = new RecentUse(() => nowMs);
    for (let second = 0; second < 300; second += 1) {
      nowMs += 1_000;
      use.add("a", 500);
      use.add("b", 100);
    }
    assert.ok(Math.abs(use.meanOf("a") - 0.5) < 0.02, `${use.meanOf("a")}`);
    assert.ok(Math.abs(use.total - 0.6) < 0.02, `${use.total}`);
    assert.equal(use.activeKeys, 2);
    nowMs += 400_000;
    assert.equal(use.activeKeys, 0);
    assert.equal(use.meanOf("c"), 0);
  });
});
