import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { activityOf, syllableCount } from "../../../../src/engines/following/analysis/activity.ts";
import fc from "../../../properties.ts";

const FRAME_S = 0.0125;

/** Levels of consecutive parts, with a jitter of ±1 dB. */
function levels(...parts: readonly (readonly [frames: number, db: number])[]): Float32Array {
  const flat = parts.flatMap(([frames, db]) => new Array<number>(frames).fill(db));
  return Float32Array.from(flat, (db, frame) => db + Math.sin(frame * frame));
}

function speechRuns(isSpeech: Uint8Array): string {
  return isSpeech.join("").replace(/(.)\1*/g, (run) => `${run.length}×${run[0]} `);
}

describe("activityOf", () => {
  it("finds speech, pauses and the noise between, at any level", () => {
    for (const db of [0, -20, -40]) {
      for (const noiseDb of [15, 30, 50]) {
        const floor = db - noiseDb;
        const activity = activityOf(
          levels([40, floor], [80, db], [40, floor], [120, db], [16, floor], [80, db], [20, floor]),
        );
        assert.equal(speechRuns(activity.isSpeech), "40×0 80×1 40×0 120×1 16×0 80×1 20×0 ");
        assert.deepEqual(activity.pausesS, [0.5, 0.2]);
        assert.equal(activity.speechS, 3.5);
      }
    }
  });

  it("closes gaps under 100 ms, and drops bursts under 50 ms", () => {
    const { isSpeech, pausesS } = activityOf(
      levels([20, -70], [3, -20], [20, -70], [60, -20], [7, -70], [60, -20], [8, -70], [4, -20], [20, -70]),
    );
    assert.equal(speechRuns(isSpeech), "43×0 127×1 8×0 4×1 20×0 ");
    assert.deepEqual(pausesS, [0.1]);
  });

  it("keeps soft speech within 30 dB of the loud", () => {
    const { speechS } = activityOf(levels([40, -65], [80, -15], [40, -40], [40, -65]));
    assert.equal(speechS, 1.5);
  });

  it("takes no digital silence for speech", () => {
    const silent = new Float32Array(60).fill(Number.NEGATIVE_INFINITY);
    const recorded = levels([100, -45], [200, -20], [100, -45]);
    const { isSpeech } = activityOf([...silent, ...recorded, ...silent]);
    assert.equal(speechRuns(isSpeech), "160×0 200×1 160×0 ");
  });

  it("finds no speech in silence, and only speech in a steady sound", () => {
    for (const db of [Number.NEGATIVE_INFINITY, Number.NaN, -120, -80]) {
      const silence = activityOf(new Float32Array(200).fill(db));
      assert.equal(silence.speechS, 0);
      assert.deepEqual(silence.pausesS, []);
    }
    const steady = activityOf(new Float32Array(200).fill(-20));
    assert.equal(steady.speechS, 2.5);
  });

  const level = fc.oneof(fc.double(), fc.double({ min: -110, max: 10 }), fc.constantFrom(-20, -60));

  it("accounts for every frame, with pauses between speech only", () => {
    fc.assert(
      fc.property(fc.array(level, { maxLength: 300 }), (db) => {
        const { isSpeech, pausesS, speechS } = activityOf(db);
        assert.equal(isSpeech.length, db.length);
        assert.ok(pausesS.every((pauseS) => pauseS >= 0.1 - 1e-9));
        const [first, last] = [isSpeech.indexOf(1), isSpeech.lastIndexOf(1)];
        const spanS = first < 0 ? 0 : (last - first + 1) * FRAME_S;
        const sumS = pausesS.reduce((sum, pauseS) => sum + pauseS, speechS);
        assert.ok(Math.abs(spanS - sumS) < 1e-9);
      }),
    );
  });
});

const FRAMES_PER_S = 80;

/** Two seconds of syllables of `swingDb`, between silences of 0.25 s. */
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
const countOf = (bandDb: Float32Array, isVoiced = everywhere, isSpeech: ArrayLike<number> = spoken) =>
  syllableCount({ bandDb, isVoiced, isSpeech });

describe("syllableCount", () => {
  it("counts 2 to 7 syllables per second", () => {
    for (const rate of [2, 3, 4, 5, 6, 7])
      assert.equal(countOf(speech(rate, 12)), 2 * rate, `${rate} per second`);
  });

  it("counts one for a steady vowel, a swing under 2 dB, or a truncated one", () => {
    for (const swingDb of [0, 1.5]) {
      const bandDb = speech(4, swingDb);
      assert.equal(countOf(bandDb), 1);
      assert.equal(countOf(bandDb.subarray(0, 100)), 1);
    }
  });

  it("ignores what is unvoiced, outside speech, or 25 dB below the rest", () => {
    const bandDb = speech(4, 12);
    assert.equal(countOf(bandDb, nowhere), 0);
    assert.equal(countOf(bandDb, everywhere, nowhere), 0);
    assert.equal(countOf(bandDb.map((db, frame) => (frame > 100 ? db - 30 : db))), 4);
  });

  it("returns a whole number, at most one per 25 ms, for any input", () => {
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
});
