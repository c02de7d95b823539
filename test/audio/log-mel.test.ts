import assert from "node:assert/strict";
import { test } from "node:test";
import { melFilters } from "../../src/audio/log-mel.ts";

test("melFilters equals librosa.filters.mel(sr=16000, n_fft=400)", () => {
  const filters = melFilters(80, 400, 16_000);
  // librosa 0.11: some rows' largest values, and what follows them.
  const golden: readonly (readonly [mel: number, bin: number, value: number])[] = [
    [0, 1, 0.024862595],
    [0, 2, 0],
    [1, 2, 0.022871772],
    [10, 10, 0.019908218],
    [10, 11, 0.004954375],
    [40, 43, 0.014735566],
    [40, 44, 0.00651819],
    [79, 192, 0.003164712],
    [79, 193, 0.003141313],
  ];
  for (const [mel, bin, value] of golden) {
    assert.ok(
      Math.abs(filters[mel * 201 + bin]! - value) < 1e-7,
      `${mel}, ${bin}: ${filters[mel * 201 + bin]}`,
    );
  }
});
