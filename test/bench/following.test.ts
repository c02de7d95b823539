import assert from "node:assert/strict";
import { test } from "node:test";
import { averageSpectrum, spectralDistanceDb } from "../../bench/following/average-spectrum.ts";
import { asClip } from "../../bench/following/heard-profile.ts";
import { furthest, least, mean, most, type Named, signed } from "../../bench/following/summary.ts";
import { fours } from "../../bench/fours.ts";

function noise(gain: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length: 36_000 }, (_, n) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return n < 12_000 || n > 24_000 ? 0 : gain * (state / 2 ** 31 - 1);
  });
}

/** Low-passes by averaging neighbours. */
function dull(samples: Float32Array): Float32Array {
  return samples.map((sample, n) => (sample + (samples[n - 1] ?? 0)) / 2);
}

test("the spectrum's shape is independent of level, not of treble", () => {
  const loud = averageSpectrum(asClip(noise(0.5)));
  const soft = averageSpectrum(asClip(noise(0.05)));
  const muffled = averageSpectrum(asClip(dull(noise(0.5))));
  assert.ok(spectralDistanceDb(loud, soft, 8_000) < 0.1);
  assert.ok(spectralDistanceDb(loud, muffled, 8_000) > 1);
});

test("energy above the band edge does not count", () => {
  const wide = averageSpectrum(asClip(noise(0.5)));
  const narrow = wide.map((power, bin) => (bin * 20 >= 4_400 ? power / 1_000 : power));
  assert.ok(spectralDistanceDb(wide, narrow, 8_000) > 3);
  assert.equal(spectralDistanceDb(wide, narrow, 4_500), 0);
});

const PEOPLE: readonly Named[] = [
  ["ann", 0.5],
  ["ben", -2],
  ["cay", 1.5],
];

test("figures of several speakers are summarised with the outliers' names", () => {
  assert.equal(mean(PEOPLE.map(([, value]) => value)), 0);
  assert.deepEqual([least(PEOPLE)[0], most(PEOPLE)[0], furthest(PEOPLE)[0]], ["ben", "cay", "ben"]);
});

test("a sign is shown only if it survives rounding", () => {
  assert.deepEqual([signed(1.25, 1), signed(-0.26, 1), signed(-0.04, 1)], ["+1.3", "−0.3", "0.0"]);
});

test("groups of four, and no incomplete one", () => {
  assert.deepEqual(fours([1, 2, 3, 4, 5, 6, 7, 8, 9]), [
    [1, 2, 3, 4],
    [5, 6, 7, 8],
  ]);
});
