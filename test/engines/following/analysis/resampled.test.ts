import assert from "node:assert/strict";
import { test } from "node:test";
import { resample } from "../../../../src/audio/resample.ts";
import { resampled } from "../../../../src/engines/following/analysis/best-excerpt.ts";
import { finish } from "./finish.ts";
import { noise } from "./signals.ts";

test("resampling in pieces gives what resampling at once gives", () => {
  for (const fromHz of [2_000, 8_000, 11_025, 24_000, 44_100, 44_101]) {
    for (const length of [0, 1, fromHz / 4, 2.3 * fromHz]) {
      const samples = noise(Math.round(length), fromHz);
      const pieces = finish(resampled(samples, fromHz, 8_000));
      const whole = resample(samples, fromHz, 8_000);
      assert.equal(pieces.length, whole.length);
      assert.ok(
        pieces.every((value, k) => Math.abs(value - whole[k]!) < 1e-6),
        `${samples.length} samples at ${fromHz} Hz`,
      );
    }
  }
});
