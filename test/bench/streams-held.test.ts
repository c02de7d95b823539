import assert from "node:assert/strict";
import { test } from "node:test";
import type { Utterance } from "../../src/cli/bench/load-job.ts";
import { heldOf, maxHeld } from "../../src/cli/bench/service-speed.ts";

const FINE: Utterance = {
  firstAudioMs: 20,
  totalMs: 4_000,
  openingRms: 0.1,
  frames: 50,
  underruns: 0,
  worstLateMs: 0,
  failure: null,
};

test("streams are held when nobody ran dry, failed or waited for more than a second", () => {
  assert.ok(heldOf([FINE, { ...FINE, firstAudioMs: 1_000, totalMs: null }]).isHeld);
  assert.ok(!heldOf([FINE, { ...FINE, underruns: 1, worstLateMs: 3 }]).isHeld);
  assert.ok(!heldOf([FINE, { ...FINE, failure: "status 502" }]).isHeld);
  assert.ok(!heldOf([FINE, { ...FINE, firstAudioMs: 1_001 }]).isHeld);
  assert.ok(!heldOf([]).isHeld);
});

test("numbers of streams are tried upwards, and none beyond the first that is not held", async () => {
  const asked: number[] = [];
  const { most, tried } = await maxHeld([8, 16, 32, 64], async (streams) => {
    asked.push(streams);
    return heldOf([{ ...FINE, underruns: streams > 20 ? 1 : 0 }]);
  });
  assert.equal(most, 16);
  assert.deepEqual(asked, [8, 16, 32]);
  assert.equal(tried.get(32)?.isHeld, false);
});

test("where not even the fewest streams are held, none are", async () => {
  const { most } = await maxHeld([8, 16], async () => heldOf([]));
  assert.equal(most, 0);
});
