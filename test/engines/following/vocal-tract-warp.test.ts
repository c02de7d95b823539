import assert from "node:assert/strict";
import { it } from "node:test";
import { BAND_HZ, BANDS } from "../../../src/engines/following/analysis/bands.ts";
import { createCodebook, estimateVocalTractWarp } from "../../../src/engines/following/vocal-tract-warp.ts";
import { noise } from "./analysis/signals.ts";

/** Log spectra of vowels with four formants and a falling source, with frequencies scaled by `warp`. */
function vowels(count: number, warp: number, seed: number): Float32Array {
  const draws = noise(4 * count, seed);
  return Float32Array.from({ length: count * BANDS }, (_, at) => {
    const frame = Math.floor(at / BANDS);
    const hz = BAND_HZ[at % BANDS]! / warp;
    const formants = [550, 1_600, 2_700, 3_800].map(
      (middle, i) => middle + [250, 700, 300, 200][i]! * draws[4 * frame + i]!,
    );
    const peaks = formants.map((at) => 4 * Math.exp(-(((hz - at) / (120 + 0.1 * at)) ** 2)));
    return peaks.reduce((sum, peak) => sum + peak, -Math.log1p(hz / 500));
  });
}

const codebook = createCodebook(vowels(400, 1, 1));

it("estimateVocalTractWarp is exact to 0.02, for wide and narrow bands", () => {
  for (const warp of [0.8, 0.84, 0.9, 0.97, 1, 1.05]) {
    for (const bandEdgeHz of [7_800, 5_000, 3_400]) {
      const estimate = estimateVocalTractWarp(codebook, vowels(400, warp, 1), bandEdgeHz);
      assert.ok(Math.abs(estimate - warp) < 0.02, `${estimate} for ${warp} below ${bandEdgeHz} Hz`);
    }
  }
});

it("estimateVocalTractWarp hardly depends on words, level and treble", () => {
  for (const warp of [0.84, 1]) {
    const others = vowels(400, warp, 5).map((value, at) => value - 3 - 0.03 * (at % BANDS));
    const estimate = estimateVocalTractWarp(codebook, others, 7_800);
    assert.ok(Math.abs(estimate - warp) < 0.04, `${estimate} for ${warp}`);
  }
});

it("estimateVocalTractWarp stays within 0.76 and 1.08", () => {
  const heard = [
    vowels(300, 0.6, 2),
    vowels(300, 1.3, 2),
    noise(300 * BANDS, 4),
    new Float32Array(300 * BANDS),
    vowels(1, 0.9, 2),
    noise(2_000 * BANDS, 4).map((value) => 1_000 * value),
  ];
  for (const each of heard) {
    for (const bandEdgeHz of [7_800, 600, 100]) {
      const estimate = estimateVocalTractWarp(codebook, each, bandEdgeHz);
      assert.ok(estimate >= 0.74 && estimate <= 1.1, `${estimate}`);
    }
  }
});

it("createCodebook makes 48 means of its spectra", () => {
  assert.equal(codebook.length, 48 * BANDS);
  const all = vowels(400, 1, 1);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  assert.ok(codebook.every((value) => value >= least - 1e-4 && value <= most + 1e-4));
  assert.deepEqual(createCodebook(vowels(400, 1, 1)), codebook);
});
