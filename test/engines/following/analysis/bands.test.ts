import assert from "node:assert/strict";
import { it } from "node:test";
import {
  addBetweenBands,
  BAND_HZ,
  BANDS,
  bandLogs,
} from "../../../../src/engines/following/analysis/bands.ts";
import { BIN_HZ, BINS } from "../../../../src/engines/prosody/frames.ts";
import fc from "../../../properties.ts";

const inBands = (powers: ArrayLike<number>) => bandLogs(powers, new Float64Array(BANDS));

function betweenBands(values: ArrayLike<number>, scale = 1): Float32Array {
  const out = new Float32Array(BINS);
  addBetweenBands(values, scale, out);
  return out;
}

it("bandLogs of a flat spectrum are equal in every band", () => {
  for (const power of [1e-6, 1, 1e6]) {
    const logs = inBands(new Float64Array(BINS).fill(power));
    assert.ok(logs.every((log) => Math.abs(log - Math.log(power + 1e-7)) < 1e-9));
  }
});

it("BAND_HZ rises from 60 Hz to 7.8 kHz, and each band peaks at its centre", () => {
  assert.equal(BAND_HZ.length, BANDS);
  BAND_HZ.forEach((hz, band) => {
    assert.ok(hz > (BAND_HZ[band - 1] ?? 60) && hz < 7_800);
    const powers = new Float64Array(BINS);
    powers[Math.round(hz / BIN_HZ)] = 1;
    const heights = inBands(powers);
    assert.ok(heights[band]! >= Math.max(heights[band - 2] ?? -99, heights[band + 2] ?? -99), `${hz} Hz`);
  });
});

it("bandLogs lose no harmonic between bands", () => {
  for (let bin = 4; bin * BIN_HZ < 7_500; bin++) {
    const powers = new Float64Array(BINS);
    powers[bin] = 1;
    assert.ok(
      inBands(powers).some((log) => log > Math.log(1e-3)),
      `${bin * BIN_HZ} Hz`,
    );
  }
});

it("bandLogs of digital silence are low and finite", () => {
  assert.ok(inBands(new Float64Array(BINS)).every((log) => log < -16 && log > -17));
});

it("addBetweenBands interpolates linearly, and is constant beyond the outer bands", () => {
  const line = Array.from(BAND_HZ, (hz) => 3 - hz / 1_000);
  const [lowest, highest] = [BAND_HZ[0]!, BAND_HZ[BANDS - 1]!];
  betweenBands(line, 2).forEach((value, bin) => {
    const hz = Math.max(lowest, Math.min(highest, bin * BIN_HZ));
    assert.ok(Math.abs(value - 2 * (3 - hz / 1_000)) < 1e-5, `${bin * BIN_HZ} Hz`);
  });
});

it("addBetweenBands spreads a band's value to its neighbours' centres only", () => {
  for (let band = 1; band < BANDS - 1; band++) {
    const one = new Float64Array(BANDS);
    one[band] = 1;
    const [below, middle, above] = [BAND_HZ[band - 1]!, BAND_HZ[band]!, BAND_HZ[band + 1]!];
    betweenBands(one).forEach((value, bin) => {
      const hz = bin * BIN_HZ;
      const wanted = Math.max(0, Math.min((hz - below) / (middle - below), (above - hz) / (above - middle)));
      assert.ok(Math.abs(value - wanted) < 1e-5, `band ${band} at ${hz} Hz`);
    });
  }
});

it("addBetweenBands adds values within the range of the bands", () => {
  const values = fc.array(fc.float({ min: -10, max: 10, noNaN: true }), {
    minLength: BANDS,
    maxLength: BANDS,
  });
  fc.assert(
    fc.property(values, (gains) => {
      const out = new Float32Array(BINS).fill(5);
      addBetweenBands(gains, 1, out);
      const [least, most] = [Math.min(...gains), Math.max(...gains)];
      assert.ok(out.every((value) => value >= 5 + least - 1e-4 && value <= 5 + most + 1e-4));
    }),
  );
});
