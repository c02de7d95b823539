import assert from "node:assert/strict";
import { test } from "node:test";
import { RealFourier } from "../../src/audio/fourier.ts";
import fc from "../properties.ts";

/** Every radix alone, and mixtures; the engine uses 1200 and 1024. */
const SIZES = [2, 4, 6, 8, 10, 12, 16, 18, 30, 50, 60, 64, 90, 128, 150, 240, 250, 512, 1_024, 1_200];

const size = fc.constantFrom(...SIZES);
const seed = fc.integer();

/** Numbers within ±1 from a linear congruential generator. */
function noise(length: number, from: number): Float64Array {
  let state = from >>> 0;
  return Float64Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

function plain(input: Float64Array): { re: Float64Array; im: Float64Array } {
  const bins = input.length / 2 + 1;
  const re = new Float64Array(bins);
  const im = new Float64Array(bins);
  for (let k = 0; k < bins; k++) {
    for (let n = 0; n < input.length; n++) {
      const angle = (2 * Math.PI * ((k * n) % input.length)) / input.length;
      re[k]! += input[n]! * Math.cos(angle);
      im[k]! -= input[n]! * Math.sin(angle);
    }
  }
  return { re, im };
}

function assertClose(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number): void {
  assert.equal(actual.length, expected.length);
  for (let k = 0; k < actual.length; k++)
    assert.ok(Math.abs(actual[k]! - expected[k]!) <= tolerance, `${k}: ${actual[k]} for ${expected[k]}`);
}

test("matches the definition for every size", () => {
  for (const points of SIZES) {
    const fourier = new RealFourier(points);
    const input = noise(points, points);
    const re = new Float64Array(fourier.bins);
    const im = new Float64Array(fourier.bins);
    fourier.forward(input, re, im);
    const expected = plain(input);
    assertClose(re, expected.re, 1e-11 * points);
    assertClose(im, expected.im, 1e-11 * points);
  }
});

test("the inverse returns the input", () => {
  fc.assert(
    fc.property(size, fc.array(seed, { minLength: 1, maxLength: 4 }), (points, seeds) => {
      const fourier = new RealFourier(points);
      const re = new Float64Array(fourier.bins);
      const im = new Float64Array(fourier.bins);
      const output = new Float64Array(points);
      for (const from of seeds) {
        const input = noise(points, from);
        fourier.forward(input, re, im);
        fourier.inverse(re, im, output);
        assertClose(output, input, 1e-13 * points);
      }
    }),
  );
});

test("the powers are squared magnitudes, with Parseval's energy", () => {
  fc.assert(
    fc.property(size, seed, (points, from) => {
      const fourier = new RealFourier(points);
      const input = noise(points, from);
      const powers = new Float64Array(fourier.bins);
      fourier.powers(input, powers);
      const re = new Float64Array(fourier.bins);
      const im = new Float64Array(fourier.bins);
      fourier.forward(input, re, im);
      assertClose(
        powers,
        re.map((value, k) => value * value + im[k]! * im[k]!),
        1e-9,
      );
      const both = powers.reduce((sum, power) => sum + 2 * power, -powers[0]! - powers.at(-1)!);
      const energy = input.reduce((sum, value) => sum + value * value, 0);
      assert.ok(Math.abs(both / points - energy) < 1e-9 * points);
    }),
  );
});

test("takes and returns single precision", () => {
  const fourier = new RealFourier(1_200);
  const input = Float32Array.from({ length: 1_200 }, (_, n) => Math.cos((2 * Math.PI * 37 * n) / 1_200));
  const powers = new Float32Array(fourier.bins);
  fourier.powers(input, powers);
  for (let k = 0; k < powers.length; k++)
    assert.ok(Math.abs(powers[k]! - (k === 37 ? 360_000 : 0)) < 0.1, `bin ${k} holds ${powers[k]}`);
});

test("leaves its input unchanged", () => {
  const input = noise(60, 7);
  const copy = input.slice();
  new RealFourier(60).powers(input, new Float64Array(31));
  assert.deepEqual(input, copy);
});

test("refuses unsupported sizes", () => {
  for (const points of [0, 1, 3, 14, 22, 1_202, 2.5, -4, Number.NaN])
    assert.throws(() => new RealFourier(points), RangeError, String(points));
});
