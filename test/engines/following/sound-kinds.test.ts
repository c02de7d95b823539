import assert from "node:assert/strict";
import { it } from "node:test";
import { BANDS } from "../../../src/engines/following/analysis/bands.ts";
import {
  meanSpectrum,
  nearestKind,
  shapesOf,
  sortIntoKinds,
  sumsByKind,
} from "../../../src/engines/following/sound-kinds.ts";
import fc from "../../properties.ts";
import { noise } from "./analysis/signals.ts";

const frameOf = (spectra: Float32Array, bandLimit = BANDS) => ({ mean: meanSpectrum(spectra), bandLimit });

/** Alternating frames of four distinct kinds, with noise. */
function fourKinds(frames: number): Float32Array {
  const own = noise(frames * BANDS, 6);
  return own.map((value, at) => {
    const kind = Math.floor(at / BANDS) % 4;
    return 3 * Math.cos((kind + 1) * 0.3 * (at % BANDS)) + 0.3 * value;
  });
}

it("sortIntoKinds separates distinct spectra, each centre the mean of its members", () => {
  const spectra = fourKinds(202);
  const shapes = shapesOf(spectra, frameOf(spectra));
  const kinds = sortIntoKinds(shapes, 4);
  const { sums, counts } = sumsByKind(shapes, shapes, kinds);
  assert.deepEqual([...counts].sort(), [50, 50, 51, 51]);
  kinds.centres.forEach((centre, at) => {
    assert.ok(Math.abs(centre - sums[at]! / counts[Math.floor(at / BANDS)]!) < 1e-9);
  });
  const found = Array.from({ length: 8 }, (_, frame) => nearestKind(kinds, shapes, frame * BANDS));
  assert.equal(new Set(found.slice(0, 4)).size, 4);
  assert.deepEqual(found.slice(4), found.slice(0, 4));
});

it("sortIntoKinds is deterministic", () => {
  const shapes = Float64Array.from(fourKinds(90));
  assert.deepEqual(sortIntoKinds(shapes, 7), sortIntoKinds(shapes.slice(), 7));
});

it("sortIntoKinds takes fewer spectra than kinds", () => {
  for (const frames of [0, 1, 3]) {
    const kinds = sortIntoKinds(Float64Array.from(fourKinds(frames)), 8);
    assert.equal(kinds.centres.length, 8 * BANDS);
    assert.ok(kinds.centres.every(Number.isFinite));
  }
});

it("sumsByKind loses no value", () => {
  const spectra = fourKinds(40);
  const shapes = Float64Array.from(spectra);
  const values = Float64Array.from({ length: shapes.length }, (_, at) => at);
  const { sums, counts } = sumsByKind(shapes, values, sortIntoKinds(shapes, 5));
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    40,
  );
  assert.equal(
    sums.reduce((sum, value) => sum + value, 0),
    values.reduce((sum, value) => sum + value, 0),
  );
});

it("shapesOf keeps three tenths of the level, and nothing above the band limit", () => {
  const spectra = fourKinds(20);
  const frame = frameOf(spectra, 25);
  const shapes = shapesOf(spectra, frame);
  const louder = shapesOf(
    spectra.map((value) => value + 2),
    frame,
  );
  shapes.forEach((value, at) => {
    const isInside = at % BANDS < 25;
    assert.ok(Math.abs(louder[at]! - value - (isInside ? 0.6 : 0)) < 1e-5);
    if (!isInside) assert.equal(value, 0);
  });
});

it("meanSpectrum averages spectra, and is zero for none", () => {
  assert.deepEqual(
    [...meanSpectrum([...new Array(BANDS).fill(1), ...new Array(BANDS).fill(4)])],
    new Array(BANDS).fill(2.5),
  );
  assert.deepEqual([...meanSpectrum([])], new Array(BANDS).fill(0));
});

it("nearestKind returns the nearest", () => {
  const row = fc.array(fc.double({ min: -50, max: 50, noNaN: true }), { minLength: BANDS, maxLength: BANDS });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 6 }), row, (centres, shape) => {
      const far = (kind: number) =>
        shape.reduce((sum, value, band) => sum + (value - centres[kind]![band]!) ** 2, 0);
      const nearest = nearestKind(
        { count: centres.length, centres: Float64Array.from(centres.flat()) },
        shape,
        0,
      );
      assert.ok(centres.every((_, kind) => far(nearest) <= far(kind)));
    }),
  );
});
