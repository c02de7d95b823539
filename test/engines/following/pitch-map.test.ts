import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { percentile, standardDeviation } from "../../../src/engines/following/analysis/statistics.ts";
import {
  type BaselinePitch,
  CALIBRATION_SENTENCES,
  correctPitchMap,
  mappedRegister,
  measurePitchBias,
  type PitchMap,
  pitchMap,
  USUAL_BIAS,
} from "../../../src/engines/following/pitch-map.ts";
import fc from "../../properties.ts";
import { noise } from "./analysis/signals.ts";

/** Logarithmic pitches, skewed as in speech. */
const drawn = (count: number, seed: number, spread: number) =>
  noise(count, seed).map((value) => spread * (value + 0.4 * value * value));

function ownPitch(): BaselinePitch {
  const sentences = [0, 1, 2, 3, 4].map((i) => ({
    centre: Math.log(200) + 0.03 * (i - 2),
    deviations: drawn(120, i + 1, 0.3),
  }));
  return {
    centre: Math.log(200),
    deviations: Float32Array.from(sentences.flatMap(({ deviations }) => [...deviations])).sort(),
    sentences,
  };
}

const own = ownPitch();
const PLAIN = { level: 1, range: 1 };
const UNBIASED = { level: 0, range: 1 };

/** Maps a pitch of the first half of a plan. */
const moved = (map: PitchMap, centre: number, off: number): number => {
  const { centreHz, spread } = mappedRegister(map);
  return Math.log(centreHz(Math.exp(centre))) + spread(off);
};

/** Pitches around a frequency, with a range relative to the baseline's. */
const pitchAround = (hz: number, range: number) =>
  drawn(400, 9, 0.3 * range)
    .map((value) => Math.log(hz) + value)
    .sort();

test("CALIBRATION_SENTENCES are plain words", () =>
  assert.doesNotMatch(CALIBRATION_SENTENCES.join(" "), /[a-z][A-Z]/));

describe("pitchMap", () => {
  test("maps the baseline's pitch to itself", () => {
    const theirs = own.deviations.map((off) => own.centre + off);
    const map = pitchMap(own, PLAIN, theirs, 1);
    for (const share of [0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97]) {
      const off = percentile(own.deviations, share);
      assert.ok(Math.abs(moved(map, own.centre, off) - own.centre - off) < 1e-3, `at ${share}`);
    }
  });

  test("maps quantiles to quantiles that are not too far apart", () => {
    const theirs = pitchAround(150, 1.4);
    const map = pitchMap(own, PLAIN, theirs, 1);
    for (const share of [0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97]) {
      const wanted = percentile(theirs, share);
      const got = moved(map, own.centre, percentile(own.deviations, share));
      assert.ok(Math.abs(got - wanted) < 0.01, `at ${share}: ${got}, not ${wanted}`);
    }
  });

  test("scales with its strength", () => {
    const start = { level: 0.6, range: 0.9 };
    const theirs = pitchAround(160, 1.5);
    const [none, half, all] = [0, 0.5, 1].map((strength) => pitchMap(own, start, theirs, strength));
    assert.ok(Math.abs(none!.centre - own.centre - Math.log(0.6)) < 1e-9);
    for (const off of [-0.12, 0, 0.25]) {
      const begun = mappedRegister(none!).spread(off) - mappedRegister(none!).spread(0);
      assert.ok(Math.abs(begun - 0.9 * off) < 1e-6);
    }
    assert.ok(Math.abs(half!.centre - (none!.centre + all!.centre) / 2) < 1e-9);
    assert.ok(Math.abs(half!.intended.spread - (none!.intended.spread + all!.intended.spread) / 2) < 1e-9);
  });

  test("keeps the pitch within 0.45 and 1.4 of the baseline", () => {
    for (const hz of [56, 80, 400, 499]) {
      const map = correctPitchMap(pitchMap(own, PLAIN, pitchAround(hz, 1), 1), own.sentences, USUAL_BIAS);
      const factor = Math.exp(map.centre - own.centre);
      assert.ok(factor >= 0.4499 && factor <= 1.4001, `${factor} for ${hz} Hz`);
    }
  });

  const target = fc.record({
    theirs: fc
      .array(fc.double({ min: Math.log(55), max: Math.log(500), noNaN: true }), { maxLength: 60 })
      .map((logs) => Float32Array.from(logs).sort()),
    strength: fc.double({ min: 0, max: 1, noNaN: true }),
    level: fc.constantFrom(0.6, 1),
    range: fc.constantFrom(0.9, 1),
  });
  const off = fc.double({ min: -1.5, max: 1.5, noNaN: true });

  test("is monotonous, corrected or not", () => {
    fc.assert(
      fc.property(target, off, off, ({ theirs, strength, ...start }, a, b) => {
        const map = pitchMap(own, start, theirs, strength);
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        for (const each of [map, correctPitchMap(map, own.sentences, USUAL_BIAS)]) {
          const [under, over] = [moved(each, own.centre, low), moved(each, own.centre, high)];
          assert.ok(Number.isFinite(under) && under <= over, `${under} and ${over}`);
        }
      }),
    );
  });

  test("scales movement by 0.5 to 2.5", () => {
    for (const [theirs, slope] of [
      [new Float32Array(200).fill(Math.log(180)), 0.5],
      [
        drawn(400, 9, 3)
          .map((value) => Math.log(180) + value)
          .sort(),
        2.5,
      ],
    ] as const) {
      const { spread } = mappedRegister(pitchMap(own, PLAIN, theirs, 1));
      const [low, high] = [0.1, 0.9].map((share) => percentile(own.deviations, share));
      assert.ok(Math.abs((spread(high!) - spread(low!)) / (high! - low!) - slope) < 1e-3);
    }
  });

  test("lets sentences differ by at most 12 %", () => {
    const { centreHz } = mappedRegister(pitchMap(own, PLAIN, pitchAround(150, 1), 1));
    const middle = centreHz(200);
    assert.ok(Math.abs(centreHz(210) / middle - 1.05) < 1e-6);
    for (const hz of [60, 100, 400, 500])
      assert.ok(Math.abs(Math.log(centreHz(hz) / middle)) < 0.12 + 1e-9, `${hz} Hz`);
  });
});

describe("correctPitchMap", () => {
  const planned = (map: PitchMap) =>
    Float32Array.from(
      own.sentences.flatMap(({ centre, deviations }) =>
        [...deviations].map((off) => moved(map, centre, off)),
      ),
    ).sort();

  for (const bias of [UNBIASED, USUAL_BIAS, { level: -0.05, range: 1.1 }]) {
    test(`reaches median and spread with a bias of ${bias.level} and ${bias.range}`, () => {
      for (const [hz, range] of [
        [200, 1],
        [120, 0.8],
        [230, 1.2],
      ] as const) {
        const theirs = pitchAround(hz, range);
        const aloud = planned(correctPitchMap(pitchMap(own, PLAIN, theirs, 1), own.sentences, bias));
        const median = percentile(aloud, 0.5) + bias.level;
        assert.ok(Math.abs(median - percentile(theirs, 0.5)) < 0.01, `median for ${hz} Hz`);
        const spread = bias.range * standardDeviation(aloud);
        assert.ok(Math.abs(spread / standardDeviation(theirs) - 1) < 0.02, `${spread}`);
      }
    });
  }

  test("uses the bias of measured against planned pitch, within limits", () => {
    const map = pitchMap(own, PLAIN, pitchAround(180, 1), 1);
    const aloud = planned(map);
    const middle = percentile(aloud, 0.5);
    const heard = aloud.map((value) => middle + 0.04 + 0.8 * (value - middle)).sort();
    const { level, range } = measurePitchBias(map, own.sentences, heard);
    assert.ok(Math.abs(level - 0.04) < 1e-4 && Math.abs(range - 0.8) < 1e-4, `${level}, ${range}`);
    const wild = aloud.map((value) => 3 * value);
    assert.deepEqual(measurePitchBias(map, own.sentences, wild), { level: 0.15, range: 1.3 });
  });

  test("uses the usual bias where calibration has hardly any voice", () => {
    const map = pitchMap(own, PLAIN, pitchAround(180, 1), 1);
    assert.deepEqual(measurePitchBias(map, own.sentences, pitchAround(90, 1).subarray(0, 39)), USUAL_BIAS);
  });
});
