import assert from "node:assert/strict";
import { test } from "node:test";
import { joinSamples } from "../../src/audio/pcm.ts";
import { averageEvery, Resampler, resample } from "../../src/audio/resample.ts";
import fc from "../properties.ts";

/** Few phases, many, and (44101) more than the table holds. */
const PAIRS = [
  [44_100, 24_000],
  [48_000, 24_000],
  [44_101, 24_000],
  [96_000, 24_000],
  [8_000, 24_000],
  [16_000, 24_000],
  [22_050, 24_000],
  [11_025, 24_000],
  [24_000, 16_000],
  [8_000, 16_000],
  [24_000, 8_000],
] as const;

function sine(hz: number, rateHz: number, seconds: number): Float32Array {
  return Float32Array.from({ length: Math.round(rateHz * seconds) }, (_, i) =>
    Math.sin((2 * Math.PI * hz * i) / rateHz),
  );
}

/** Returns the peak error against an ideal sine, without the ends, in dBFS. */
function errorDb(output: Float32Array, rateHz: number, ideal: (timeS: number) => number): number {
  let worst = 1e-9;
  const edge = Math.round(output.length / 4);
  for (let k = edge; k < output.length - edge; k += 1)
    worst = Math.max(worst, Math.abs(output[k]! - ideal(k / rateHz)));
  return 20 * Math.log10(worst);
}

for (const [fromHz, toHz] of PAIRS) {
  const nyquistHz = Math.min(fromHz, toHz) / 2;

  test(`${fromHz} to ${toHz} Hz keeps a sine up to 0.9 of the lower Nyquist`, () => {
    for (const share of [0.02, 0.31, 0.64, 0.9]) {
      const hz = share * nyquistHz;
      const output = resample(sine(hz, fromHz, 0.2), fromHz, toHz);
      const error = errorDb(output, toHz, (timeS) => Math.sin(2 * Math.PI * hz * timeS));
      assert.ok(error < -70, `${hz} Hz is ${error.toFixed(1)} dB off`);
    }
  });

  if (fromHz > toHz) {
    test(`${fromHz} to ${toHz} Hz does not alias`, () => {
      for (const share of [1.001, 1.03, 1.1, 1.37, 1.7]) {
        const hz = share * nyquistHz;
        if (hz >= fromHz / 2) continue;
        const left = errorDb(resample(sine(hz, fromHz, 0.2), fromHz, toHz), toHz, () => 0);
        assert.ok(left < -70, `${hz} Hz is left at ${left.toFixed(1)} dB`);
      }
    });
  }

  test(`${fromHz} to ${toHz} Hz keeps a constant`, () => {
    const output = resample(new Float32Array(fromHz / 5).fill(0.5), fromHz, toHz);
    assert.ok(errorDb(output, toHz, () => 0.5) < -100);
  });
}

const rate = fc.integer({ min: 1_000, max: 60_000 });
const block = fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { maxLength: 400 });

test("returns round(n · to / from) samples for any length and rates", () => {
  fc.assert(
    fc.property(block, rate, rate, (samples, fromHz, toHz) => {
      const output = resample(Float32Array.from(samples), fromHz, toHz);
      assert.equal(output.length, Math.round((samples.length * toHz) / fromHz));
      assert.ok(output.every(Number.isFinite));
    }),
  );
});

test("is linear", () => {
  fc.assert(
    fc.property(block, block, fc.constantFrom(...PAIRS), (a, b, [fromHz, toHz]) => {
      const length = Math.min(a.length, b.length);
      const first = Float64Array.from(a.slice(0, length));
      const sum = Float32Array.from(first, (value, i) => value + b[i]!);
      const left = resample(Float32Array.from(a.slice(0, length)), fromHz, toHz);
      const right = resample(Float32Array.from(b.slice(0, length)), fromHz, toHz);
      const both = resample(sum, fromHz, toHz);
      for (let k = 0; k < both.length; k += 1) assert.ok(Math.abs(both[k]! - left[k]! - right[k]!) < 1e-5);
      assert.ok(resample(new Float32Array(length), fromHz, toHz).every((value) => value === 0));
    }),
  );
});

test("returns the same bits for chunks of any size", () => {
  const pieces = fc.array(fc.oneof(fc.nat(12), fc.nat(700), fc.constant(0)), { maxLength: 40 });
  const pairs = fc.oneof(
    fc.constantFrom(...PAIRS),
    fc.tuple(fc.integer({ min: 8_000, max: 48_000 }), fc.constant(24_000)),
  );
  fc.assert(
    fc.property(pieces, pairs, fc.integer(), (lengths, [fromHz, toHz], seed) => {
      const all = lengths.reduce((sum, length) => sum + length, 0);
      const samples = Float32Array.from({ length: all }, (_, i) => Math.sin(seed + i * i));
      const resampler = new Resampler(fromHz, toHz);
      const given: Float32Array[] = [];
      let at = 0;
      for (const length of lengths) {
        given.push(resampler.push(samples.subarray(at, at + length)));
        at += length;
      }
      const cut = joinSamples([...given, resampler.end()]);
      const whole = resample(samples, fromHz, toHz);
      if (fromHz !== toHz) assert.deepEqual(cut, whole);
    }),
  );
});

test("returns the same bits for 16-bit samples in chunks", () => {
  const rates = fc.constantFrom([24_000, 16_000], [8_000, 16_000], [24_000, 8_000], [8_000, 24_000]);
  const sound = fc.int16Array({ maxLength: 3_000 });
  fc.assert(
    fc.property(sound, fc.array(fc.nat(200), { minLength: 1 }), rates, (pcm, sizes, [fromHz, toHz]) => {
      const resampler = new Resampler(fromHz!, toHz!);
      const given: Float32Array[] = [];
      for (let at = 0, piece = 0; at < pcm.length; piece += 1) {
        const size = sizes[piece % sizes.length]! + (piece % sizes.length === 0 ? 1 : 0);
        given.push(resampler.push(pcm.subarray(at, at + size)));
        at += size;
      }
      assert.deepEqual(
        joinSamples([...given, resampler.end()]),
        resample(Float32Array.from(pcm), fromHz!, toHz!),
      );
    }),
  );
});

test("holds back half a filter and no more", () => {
  const resampler = new Resampler(44_100, 24_000);
  const given = resampler.push(sine(440, 44_100, 1)).length;
  assert.ok(given > 24_000 - 60 && given < 24_000, `${given}`);
});

test("computes each output alike, alone or with others", () => {
  const input = sine(440, 44_100, 0.5);
  const whole = resample(input, 44_100, 24_000);
  for (const length of [147, 147 * 8 + 31, 5_000]) {
    const part = resample(input.subarray(0, length), 44_100, 24_000);
    const settled = part.length - 200;
    for (let k = 0; k < settled; k += 1)
      assert.ok(Math.abs(part[k]! - whole[k]!) < 1e-6, `sample ${k} of ${length}`);
  }
});

test("returns a copy for equal rates", () => {
  const input = Float32Array.of(0.1, 0.2);
  const output = resample(input, 24_000, 24_000);
  assert.deepEqual(output, input);
  assert.notEqual(output.buffer, input.buffer);
});

test("averages groups of samples, and drops the rest", () => {
  assert.deepEqual([...averageEvery(Float32Array.of(0.5, 0.25, -1, 1, 0.75), 2)], [0.375, 0]);
  assert.deepEqual([...averageEvery(Float32Array.of(0.5, 0.25), 1)], [0.5, 0.25]);
  assert.deepEqual([...averageEvery(Float32Array.of(0.5, 0.25), 3)], []);
});
