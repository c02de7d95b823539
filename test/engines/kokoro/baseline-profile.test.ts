import assert from "node:assert/strict";
import { test } from "node:test";
import { summarisePitch } from "../../../src/engines/following/pitch-map.ts";
import {
  type BaselineProfile,
  decodeProfile,
  encodeProfile,
} from "../../../src/engines/kokoro/baseline-profile.ts";
import fc from "../../properties.ts";

const figure = fc.float({ noNaN: true, noDefaultInfinity: true, min: -100, max: 100 });
const row = (maxLength: number) => fc.float32Array({ noNaN: true, noDefaultInfinity: true, maxLength });
const profile: fc.Arbitrary<BaselineProfile> = fc
  .record({
    figures: fc.tuple(figure, figure, figure, figure, figure),
    sentences: fc.array(fc.record({ centre: figure, deviations: row(30) }, { noNullPrototype: true }), {
      minLength: 1,
      maxLength: 5,
    }),
    codebook: row(80),
  })
  .map(
    ({ figures: [level, range, syllablesPerS, measuredPerPlanned, loudnessLufs], sentences, codebook }) => ({
      pitch: summarisePitch(sentences),
      bias: { level, range },
      pace: { syllablesPerS, measuredPerPlanned },
      loudnessLufs,
      codebook,
    }),
  );

test("encodeProfile and decodeProfile round-trip", () => {
  fc.assert(fc.property(profile, (own) => assert.deepEqual(decodeProfile(encodeProfile(own)), own)));
});

test("decodeProfile rejects rows that do not fit", () => {
  fc.assert(
    fc.property(profile, fc.integer({ min: 1, max: 9 }), (own, more) => {
      const kept = encodeProfile(own);
      const longer = new Float32Array(kept.pitch.length + more);
      longer.set(kept.pitch);
      assert.throws(() => decodeProfile({ ...kept, pitch: longer }), RangeError);
      assert.throws(() => decodeProfile({ ...kept, figures: kept.figures.slice(0, 5) }), RangeError);
    }),
  );
});
