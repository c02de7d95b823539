import assert from "node:assert/strict";
import { it, test } from "node:test";
import { resample } from "../../../../src/audio/resample.ts";
import { bestExcerpt, resampled } from "../../../../src/engines/following/analysis/best-excerpt.ts";
import { finish } from "./finish.ts";
import { clipOf, noise } from "./signals.ts";

/** Lower than real rates, so that minutes are few samples. */
const RATE_HZ = 1_000;

const stretchOf = (samples: Float32Array, sampleRateHz = RATE_HZ) =>
  finish(bestExcerpt(clipOf(samples, sampleRateHz)));

/** Soft noise that is loud in these spans. */
function recording(
  durationS: number,
  ...loud: readonly (readonly [fromS: number, toS: number])[]
): Float32Array {
  return noise(durationS * RATE_HZ, 1).map((sample, n) => {
    const isLoud = loud.some(([fromS, toS]) => n >= fromS * RATE_HZ && n < toS * RATE_HZ);
    return (isLoud ? 0.3 : 0.0005) * sample;
  });
}

const loudSeconds = (samples: Float32Array) =>
  samples.filter((sample) => Math.abs(sample) > 0.001).length / RATE_HZ;

it("bestExcerpt returns all of a clip of at most 30 s", () => {
  for (const samples of [recording(0), recording(1, [0, 1]), recording(30, [2, 3])])
    assert.deepEqual(stretchOf(samples), samples);
});

it("bestExcerpt returns the 30 s with the speech of a mostly silent clip", () => {
  for (const fromS of [0, 33, 118, 275]) {
    const stretch = stretchOf(recording(300, [fromS, fromS + 25]));
    assert.equal(stretch.length, 30 * RATE_HZ);
    assert.ok(loudSeconds(stretch) > 24.5, `speech from ${fromS} s`);
  }
});

it("bestExcerpt prefers the most speech to the first or loudest", () => {
  const clip = recording(200, [5, 15], [120, 145]).map((sample, n) => (n < 20_000 ? 3 * sample : sample));
  assert.ok(loudSeconds(stretchOf(clip)) > 24.5);
});

it("bestExcerpt prefers the earliest of equal excerpts", () => {
  const clip = recording(200, [40, 50], [100, 110], [150, 160]);
  assert.deepEqual(stretchOf(clip), clip.subarray(20_000, 50_000));
  const steady = noise(100_000, 2);
  assert.deepEqual(stretchOf(steady), steady.subarray(0, 30_000));
});

it("bestExcerpt clips samples to full scale, and zeroes tiny and non-finite ones", () => {
  const odd = [Number.NaN, Infinity, -Infinity, 1e-42, -1e-42, 1e-10, 0, -0.5, 1, -1, 2, -7];
  const clean = [0, 0, 0, 0, 0, 0, 0, -0.5, 1, -1, 1, -1];
  assert.deepEqual([...stretchOf(Float32Array.from(odd))], clean);
});

it("bestExcerpt finds speech between non-finite samples", () => {
  const clip = recording(120, [70, 95]);
  clip.fill(Number.NaN, 0, 40_000).fill(Infinity, 110_000);
  const stretch = stretchOf(clip);
  assert.ok(loudSeconds(stretch) > 24.5 && stretch.every(Number.isFinite));
});

it("bestExcerpt copies at most 30 s at any rate, and leaves the clip alone", () => {
  for (const rateHz of [1_010, 4_409, 8_000]) {
    const samples = noise(70 * rateHz, rateHz);
    const before = samples.slice();
    const stretch = stretchOf(samples, rateHz);
    assert.equal(stretch.buffer.byteLength, 4 * 30 * rateHz);
    assert.notEqual(stretch.buffer, samples.buffer);
    assert.deepEqual(samples, before);
  }
});

it("bestExcerpt yields during a long clip", () => {
  let rests = 0;
  for (const work = bestExcerpt(clipOf(new Float32Array(60 * 48_000), 48_000)); !work.next().done; ) rests++;
  assert.ok(rests >= 20, `${rests} times`);
});

test("resampled equals resample", () => {
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
