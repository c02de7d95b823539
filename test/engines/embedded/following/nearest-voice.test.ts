import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestVoice } from "../../../../src/engines/embedded/following/follower.ts";
import { createVoices } from "../../../../src/engines/embedded/speakers.ts";

const own = { centre: Math.log(200), deviations: new Float32Array(0), sentences: [] };
const voices = createVoices();
const nearest = (hz: number, warp: number | null) =>
  nearestVoice(voices, own, { pitch: new Float32Array(9).fill(Math.log(hz)), warp }).label;

test("each voice that following may begin with is the nearest to itself, with and without an estimate of the vocal tract", () => {
  for (const [label, voice] of voices) {
    for (const body of voice.startingForms) {
      assert.equal(nearest(200 * body.level, body.warp), label);
      assert.equal(nearest(200 * body.level, null), label);
    }
  }
});

test("without a tract the pitch decides, half-way between the voices in semitones", () => {
  const between = 200 * Math.sqrt(0.6);
  assert.equal(nearest(1.02 * between, null), "0");
  assert.equal(nearest(0.98 * between, null), "1");
});

test("a long tract makes a high voice a man's, and a short one a low voice a woman's", () => {
  const between = 200 * Math.sqrt(0.6);
  assert.equal(nearest(1.1 * between, 0.82), "1");
  assert.equal(nearest(0.9 * between, 1.02), "0");
});

test("there has to be a voice to begin with", () => {
  assert.throws(() => nearestVoice(new Map(), own, { pitch: new Float32Array(0), warp: null }), /No voice/);
});
