import assert from "node:assert/strict";
import { test } from "node:test";
import { syllableCount } from "../../../../src/engines/following/analysis/activity.ts";
import fc from "../../../properties.ts";

const FRAMES_PER_S = 80;

/** Two seconds of energy that swings by `swingDb` so many times a second, between silences of 0.25 s. */
function speech(syllablesPerS: number, swingDb: number): Float32Array {
  return Float32Array.from({ length: 200 }, (_, frame) => {
    const timeS = frame / FRAMES_PER_S - 0.25;
    if (timeS < 0 || timeS > 2) return -80;
    return -30 - (swingDb / 2) * Math.cos(2 * Math.PI * syllablesPerS * timeS);
  });
}

const everywhere = new Uint8Array(200).fill(1);
const nowhere = new Uint8Array(200);
const spoken = speech(4, 12).map((db) => (db > -70 ? 1 : 0));

test("counts 2 to 7 syllables a second", () => {
  for (const rate of [2, 3, 4, 5, 6, 7]) {
    assert.equal(
      syllableCount({ bandDb: speech(rate, 12), isVoiced: everywhere, isSpeech: spoken }),
      2 * rate,
      `${rate} a second`,
    );
  }
});

test("counts one for a steady vowel, or one that swings by less than 2 dB, and for one that the end cuts off", () => {
  for (const swingDb of [0, 1.5]) {
    const bandDb = speech(4, swingDb);
    assert.equal(syllableCount({ bandDb, isVoiced: everywhere, isSpeech: spoken }), 1);
    assert.equal(
      syllableCount({ bandDb: bandDb.subarray(0, 100), isVoiced: everywhere, isSpeech: spoken }),
      1,
    );
  }
});

test("counts none that is unvoiced, outside speech, or 25 dB under the others", () => {
  const bandDb = speech(4, 12);
  assert.equal(syllableCount({ bandDb, isVoiced: nowhere, isSpeech: spoken }), 0);
  assert.equal(syllableCount({ bandDb, isVoiced: everywhere, isSpeech: nowhere }), 0);
  const fading = bandDb.map((db, frame) => (frame > 100 ? db - 30 : db));
  assert.equal(syllableCount({ bandDb: fading, isVoiced: everywhere, isSpeech: spoken }), 4);
});

test("gives a whole number, at most one for 25 ms, whatever it is given", () => {
  const cues = fc.array(fc.tuple(fc.double(), fc.boolean(), fc.boolean()), { maxLength: 200 });
  fc.assert(
    fc.property(cues, (frames) => {
      const count = syllableCount({
        bandDb: frames.map(([db]) => db),
        isVoiced: frames.map(([, voiced]) => Number(voiced)),
        isSpeech: frames.map(([, , active]) => Number(active)),
      });
      assert.ok(Number.isInteger(count) && count >= 0 && count <= Math.ceil(frames.length / 2));
    }),
  );
});
