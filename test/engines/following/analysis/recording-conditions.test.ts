import assert from "node:assert/strict";
import { describe, it } from "node:test";
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

function conditionsOf(samples: Float32Array): RecordingConditions {
  const frames = finish(clipFrames(samples));
  return recordingConditions(samples, frames, activityOf(frames.levelDb));
}

/** Noise that alternates between two levels every 0.5 s. */
function bursts(loudDb: number, softDb: number): Float32Array {
  return noise(96_000, 4).map((sample, n) => sample * 10 ** ((n % 24_000 < 12_000 ? loudDb : softDb) / 20));
}

describe("recordingConditions", () => {
  it("reports the signal-to-noise ratio within 2 dB", () => {
    for (const snrDb of [10, 15, 20, 30, 45]) {
      const { signalToNoiseDb } = conditionsOf(bursts(-12, -12 - snrDb));
      assert.ok(Math.abs(signalToNoiseDb - snrDb) < 2, `${signalToNoiseDb} for ${snrDb}`);
    }
  });

  it("reports 6 dB less for 6 dB more room noise", () => {
    const quiet = conditionsOf(syntheticVoice({ roomDb: -60 })).signalToNoiseDb;
    const louder = conditionsOf(syntheticVoice({ roomDb: -54 })).signalToNoiseDb;
    assert.ok(Math.abs(quiet - louder - 6) < 1, `${quiet} and ${louder}`);
  });

  it("reports no noise for a steady sound or silence", () => {
    const loud = conditionsOf(scaled(noise(48_000, 1), 0.1));
    assert.equal(loud.signalToNoiseDb, 60);
    assert.ok(loud.noise.every((power) => power === 0));
    for (const length of [0, 1, 48_000])
      assert.equal(conditionsOf(new Float32Array(length)).signalToNoiseDb, 60);
  });

  it("reports the band edge at any rate", () => {
    const voice = syntheticVoice();
    const whole = conditionsOf(voice).bandEdgeHz;
    assert.ok(whole > 6_500, `${whole} Hz`);
    for (const rateHz of [4_000, 6_000, 8_000, 11_025]) {
      const { bandEdgeHz } = conditionsOf(resample(resample(voice, 24_000, rateHz), rateHz, 24_000));
      const octaves = Math.log2(bandEdgeHz / (rateHz / 2));
      assert.ok(octaves > -0.35 && octaves < 0.15, `${bandEdgeHz} Hz at a rate of ${rateHz}`);
    }
  });

  it("ignores hiss above a narrow band", () => {
    const voice = syntheticVoice({ roomDb: -200 });
    const narrow = resample(resample(voice, 24_000, 6_000), 6_000, 24_000);
    const { bandEdgeHz } = conditionsOf(mixture(narrow, scaled(noise(narrow.length, 9), 0.003)));
    assert.ok(bandEdgeHz < 3_300, `${bandEdgeHz} Hz`);
  });

  it("reports the share of clipped samples", () => {
    const sine = Float32Array.from({ length: 24_000 }, (_, n) => Math.sin(n / 38.2));
    for (const ceiling of [0.3, 0.5, 0.9]) {
      const cut = sine.map((sample) => Math.max(-ceiling, Math.min(ceiling, sample)));
      const wanted = 1 - (2 / Math.PI) * Math.asin(ceiling);
      const { clippedShare } = conditionsOf(cut);
      assert.ok(Math.abs(clippedShare - wanted) < 0.05, `${clippedShare} at ${ceiling}, not ${wanted}`);
    }
  });

  it("reports no clipping of an intact or a soft voice", () => {
    const voice = syntheticVoice();
    assert.ok(conditionsOf(voice).clippedShare < 1e-3);
    const softAndCut = scaled(voice, 20).map((sample) => Math.max(-0.2, Math.min(0.2, sample)));
    assert.equal(conditionsOf(softAndCut).clippedShare, 0);
  });
});
