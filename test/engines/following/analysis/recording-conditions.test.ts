import assert from "node:assert/strict";
import { test } from "node:test";
import { resample } from "../../../../src/audio/resample.ts";
import { activityOf } from "../../../../src/engines/following/analysis/activity.ts";
import { clipFrames } from "../../../../src/engines/following/analysis/clip-frames.ts";
import {
  type RecordingConditions,
  recordingConditions,
} from "../../../../src/engines/following/analysis/recording-conditions.ts";
import { finish } from "./finish.ts";
import { mixture, noise, scaled } from "./signals.ts";
import { syntheticVoice } from "./synthetic-voice.ts";

function examined(samples: Float32Array): RecordingConditions {
  const frames = finish(clipFrames(samples));
  return recordingConditions(samples, frames, activityOf(frames.levelDb));
}

/** Half a second loud, half a second not, of one colour, so that what is loud is known in every band. */
function bursts(loudDb: number, softDb: number): Float32Array {
  return noise(96_000, 4).map((sample, n) => sample * 10 ** ((n % 24_000 < 12_000 ? loudDb : softDb) / 20));
}

test("tells how far speech is above the noise within 2 dB", () => {
  for (const snrDb of [10, 15, 20, 30, 45]) {
    const { signalToNoiseDb } = examined(bursts(-12, -12 - snrDb));
    assert.ok(Math.abs(signalToNoiseDb - snrDb) < 2, `${signalToNoiseDb} for ${snrDb}`);
  }
});

test("a voice in a room is the noisier the louder the room, 6 dB for 6 dB", () => {
  const quiet = examined(syntheticVoice({ roomDb: -60 })).signalToNoiseDb;
  const louder = examined(syntheticVoice({ roomDb: -54 })).signalToNoiseDb;
  assert.ok(Math.abs(quiet - louder - 6) < 1, `${quiet} and ${louder}`);
});

test("what is loud throughout, or silent, has no noise that the speech would stand out from", () => {
  const loud = examined(scaled(noise(48_000, 1), 0.1));
  assert.equal(loud.signalToNoiseDb, 60);
  assert.ok(loud.noise.every((power) => power === 0));
  for (const length of [0, 1, 48_000]) assert.equal(examined(new Float32Array(length)).signalToNoiseDb, 60);
});

test("finds where a recording's band ends, whatever the rate it comes at", () => {
  const voice = syntheticVoice();
  const whole = examined(voice).bandEdgeHz;
  assert.ok(whole > 6_500, `${whole} Hz`);
  for (const rateHz of [4_000, 6_000, 8_000, 11_025]) {
    const { bandEdgeHz } = examined(resample(resample(voice, 24_000, rateHz), rateHz, 24_000));
    const octaves = Math.log2(bandEdgeHz / (rateHz / 2));
    assert.ok(octaves > -0.35 && octaves < 0.15, `${bandEdgeHz} Hz at a rate of ${rateHz}`);
  }
});

test("hiss above a narrow voice is no speech", () => {
  const voice = syntheticVoice({ roomDb: -200 });
  const narrow = resample(resample(voice, 24_000, 6_000), 6_000, 24_000);
  const { bandEdgeHz } = examined(mixture(narrow, scaled(noise(narrow.length, 9), 0.003)));
  assert.ok(bandEdgeHz < 3_300, `${bandEdgeHz} Hz`);
});

test("tells what share of the samples was cut flat", () => {
  const sine = Float32Array.from({ length: 24_000 }, (_, n) => Math.sin(n / 38.2));
  for (const ceiling of [0.3, 0.5, 0.9]) {
    const cut = sine.map((sample) => Math.max(-ceiling, Math.min(ceiling, sample)));
    const wanted = 1 - (2 / Math.PI) * Math.asin(ceiling);
    const { clippedShare } = examined(cut);
    assert.ok(Math.abs(clippedShare - wanted) < 0.05, `${clippedShare} at ${ceiling}, not ${wanted}`);
  }
});

test("a voice that is not cut, or that is soft, is not called clipped", () => {
  const voice = syntheticVoice();
  assert.ok(examined(voice).clippedShare < 1e-3);
  const softAndCut = scaled(voice, 20).map((sample) => Math.max(-0.2, Math.min(0.2, sample)));
  assert.equal(examined(softAndCut).clippedShare, 0);
});
