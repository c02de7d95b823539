import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BANDS } from "../../../../src/engines/following/analysis/bands.ts";
import { clipFrames } from "../../../../src/engines/following/analysis/clip-frames.ts";
import { finish } from "./finish.ts";
import { noise, scaled } from "./signals.ts";

const sine = (hz: number, peak: number) =>
  Float32Array.from({ length: 24_000 }, (_, n) => peak * Math.sin((2 * Math.PI * hz * n) / 24_000));
const framesOf = (samples: Float32Array) => finish(clipFrames(samples));
/** Without the ends, where half of the window is silent. */
const inner = (levels: Float32Array) => levels.subarray(3, -3);
const meanOf = (levels: Float32Array) => levels.reduce((sum, db) => sum + db, 0) / levels.length;

describe("clipFrames", () => {
  it("reports a sine's mean power, 3 dB below its peak", () => {
    for (const hz of [100, 997, 5_000]) {
      for (const peak of [1, 0.1, 0.001]) {
        const wanted = 20 * Math.log10(peak) - 3.01;
        for (const db of inner(framesOf(sine(hz, peak)).levelDb))
          assert.ok(Math.abs(db - wanted) < 0.1, `${db}`);
      }
    }
  });

  it("reports the mean level of white noise", () => {
    for (const peak of [1, 0.01]) {
      const mean = meanOf(inner(framesOf(scaled(noise(48_000, 3), peak)).levelDb));
      assert.ok(Math.abs(mean - (20 * Math.log10(peak) - 4.77)) < 0.3, `${mean}`);
    }
  });

  it("reports silence as −120 dB", () => {
    assert.ok(framesOf(new Float32Array(24_000)).levelDb.every((db) => Math.abs(db + 120) < 1e-3));
  });

  it("measures syllables between 300 and 3,300 Hz only", () => {
    for (const [hz, lowest, highest] of [
      [150, -120, -60],
      [1_000, -3.2, -2.9],
      [5_000, -120, -60],
    ] as const) {
      for (const db of inner(framesOf(sine(hz, 1)).syllableDb))
        assert.ok(db > lowest && db < highest, `${hz}: ${db}`);
    }
  });

  it("centres frame n on n · 12.5 ms", () => {
    for (const at of [4, 17, 38]) {
      const click = new Float32Array(12_000);
      click[at * 300] = 1;
      const { levelDb, count } = framesOf(click);
      assert.equal(count, 40);
      assert.equal(levelDb.indexOf(Math.max(...levelDb)), at);
      assert.ok(Math.abs(levelDb[at - 1]! - levelDb[at + 1]!) < 1e-3);
      assert.ok((levelDb[at - 2] ?? -120) < -119 && (levelDb[at + 2] ?? -120) < -119);
    }
  });

  it("has a frame with all bands for each whole 12.5 ms", () => {
    for (const [length, count] of [
      [0, 0],
      [299, 0],
      [300, 1],
      [24_299, 80],
    ] as const) {
      const frames = framesOf(noise(length, 1));
      assert.equal(frames.count, count);
      assert.equal(frames.bands.length, count * BANDS);
    }
  });
});
