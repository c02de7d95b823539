import assert from "node:assert/strict";
import { test } from "node:test";
import { bestExcerpt } from "../../../../src/engines/following/analysis/best-excerpt.ts";
import { finish } from "./finish.ts";
import { clipOf, noise } from "./signals.ts";

/** A rate that no real clip has, so that minutes are short. */
const RATE_HZ = 1_000;

const stretchOf = (samples: Float32Array, sampleRateHz = RATE_HZ) =>
  finish(bestExcerpt(clipOf(samples, sampleRateHz)));

/** A soft hiss with something loud from one second to another. */
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

test("all of a clip of at most 30 s is listened to", () => {
  for (const samples of [recording(0), recording(1, [0, 1]), recording(30, [2, 3])]) {
    assert.deepEqual(stretchOf(samples), samples);
  }
});

test("of a long clip that is mostly silent the 30 s with the speech are taken", () => {
  for (const fromS of [0, 33, 118, 275]) {
    const stretch = stretchOf(recording(300, [fromS, fromS + 25]));
    assert.equal(stretch.length, 30 * RATE_HZ);
    assert.ok(loudSeconds(stretch) > 24.5, `speech from ${fromS} s`);
  }
});

test("the stretch with the most speech wins, not the one with the first or the loudest", () => {
  const clip = recording(200, [5, 15], [120, 145]).map((sample, n) => (n < 20_000 ? 3 * sample : sample));
  assert.ok(loudSeconds(stretchOf(clip)) > 24.5);
});

test("of stretches with as much speech the earliest is taken", () => {
  const clip = recording(200, [40, 50], [100, 110], [150, 160]);
  assert.deepEqual(stretchOf(clip), clip.subarray(20_000, 50_000));
  const steady = noise(100_000, 2);
  assert.deepEqual(stretchOf(steady), steady.subarray(0, 30_000));
});

test("samples that are not finite, or too quiet to be meant, become 0; louder ones than full scale full scale", () => {
  const odd = [Number.NaN, Infinity, -Infinity, 1e-42, -1e-42, 1e-10, 0, -0.5, 1, -1, 2, -7];
  const clean = [0, 0, 0, 0, 0, 0, 0, -0.5, 1, -1, 1, -1];
  assert.deepEqual([...stretchOf(Float32Array.from(odd))], clean);
});

test("speech is found in a long clip between samples that are not finite", () => {
  const clip = recording(120, [70, 95]);
  clip.fill(Number.NaN, 0, 40_000).fill(Infinity, 110_000);
  const stretch = stretchOf(clip);
  assert.ok(loudSeconds(stretch) > 24.5 && stretch.every(Number.isFinite));
});

test("no more than 30 s of any clip are copied, at any rate, and the clip stays as it was", () => {
  for (const rateHz of [1_010, 4_409, 8_000]) {
    const samples = noise(70 * rateHz, rateHz);
    const before = samples.slice();
    const stretch = stretchOf(samples, rateHz);
    assert.equal(stretch.buffer.byteLength, 4 * 30 * rateHz);
    assert.notEqual(stretch.buffer, samples.buffer);
    assert.deepEqual(samples, before);
  }
});

test("it rests while it looks through a long clip", () => {
  let rests = 0;
  for (const work = bestExcerpt(clipOf(new Float32Array(60 * 48_000), 48_000)); !work.next().done; ) rests++;
  assert.ok(rests >= 20, `${rests} times`);
});
