import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestKokoroVoice } from "../../../src/engines/kokoro/follower.ts";
import { KOKORO_STARTING_VOICES } from "../../../src/models/kokoro-voices.ts";

const voices = [
  { id: "woman", pitchHz: 165, tract: 1 },
  { id: "high", pitchHz: 210, tract: 1 },
  { id: "man", pitchHz: 165, tract: 0.84 },
];
const at = (hz: number) => new Float32Array(50).fill(Math.log(hz));

test("nearestKokoroVoice decides by pitch, then by vocal tract", () => {
  assert.equal(nearestKokoroVoice(voices, { pitch: at(215), tract: 1.02 }).id, "high");
  assert.equal(nearestKokoroVoice(voices, { pitch: at(165), tract: 0.98 }).id, "woman");
  assert.equal(nearestKokoroVoice(voices, { pitch: at(165), tract: 0.86 }).id, "man");
});

test("nearestKokoroVoice throws without voices", () => {
  assert.throws(() => nearestKokoroVoice([], { pitch: at(165), tract: 1 }), /No voice to start from/);
});

test("nearestKokoroVoice returns each starting voice for itself, and no whisper is among them", () => {
  for (const { id, pitchHz, tract } of KOKORO_STARTING_VOICES.voices)
    assert.equal(nearestKokoroVoice(KOKORO_STARTING_VOICES.voices, { pitch: at(pitchHz), tract }).id, id);
  assert.ok(KOKORO_STARTING_VOICES.voices.every(({ id }) => id !== "af_nicole" && id !== "am_santa"));
});
