import assert from "node:assert/strict";
import { test } from "node:test";
import { activityOf } from "../../../../src/engines/following/analysis/activity.ts";
import fc from "../../../properties.ts";

const FRAME_S = 0.0125;

/** Parts of so many frames and decibels, with a jitter of ±1 dB. */
function levels(...parts: readonly (readonly [frames: number, db: number])[]): Float32Array {
  const flat = parts.flatMap(([frames, db]) => new Array<number>(frames).fill(db));
  return Float32Array.from(flat, (db, frame) => db + Math.sin(frame * frame));
}

function speechRuns(isSpeech: Uint8Array): string {
  return isSpeech.join("").replace(/(.)\1*/g, (run) => `${run.length}×${run[0]} `);
}

test("finds the speech, its pauses and the noise between, at any level and in loud noise", () => {
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

test("closes gaps under 100 ms and drops bursts under 50 ms", () => {
  const { isSpeech, pausesS } = activityOf(
    levels([20, -70], [3, -20], [20, -70], [60, -20], [7, -70], [60, -20], [8, -70], [4, -20], [20, -70]),
  );
  assert.equal(speechRuns(isSpeech), "43×0 127×1 8×0 4×1 20×0 ");
  assert.deepEqual(pausesS, [0.1]);
});

test("keeps soft speech that is less than 30 dB under the loud", () => {
  const { speechS } = activityOf(levels([40, -65], [80, -15], [40, -40], [40, -65]));
  assert.equal(speechS, 1.5);
});

test("digital silence around a recording is not speech", () => {
  const silent = new Float32Array(60).fill(Number.NEGATIVE_INFINITY);
  const recorded = levels([100, -45], [200, -20], [100, -45]);
  const { isSpeech } = activityOf([...silent, ...recorded, ...silent]);
  assert.equal(speechRuns(isSpeech), "160×0 200×1 160×0 ");
});

test("silence has no speech, and what is loud throughout is speech throughout", () => {
  for (const db of [Number.NEGATIVE_INFINITY, Number.NaN, -120, -80]) {
    const silence = activityOf(new Float32Array(200).fill(db));
    assert.equal(silence.speechS, 0);
    assert.deepEqual(silence.pausesS, []);
  }
  const steady = activityOf(new Float32Array(200).fill(-20));
  assert.equal(steady.speechS, 2.5);
});

const level = fc.oneof(fc.double(), fc.double({ min: -110, max: 10 }), fc.constantFrom(-20, -60));

test("always accounts for every frame, and pauses lie between speech", () => {
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
