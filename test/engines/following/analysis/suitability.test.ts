import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { resample } from "../../../../src/audio/resample.ts";
import type {
  ClipCaution,
  Suitability,
} from "../../../../src/engines/following/analysis/recording-conditions.ts";
import { analyseClip } from "../../../../src/engines/following/analysis/voice-profile.ts";
import { finish } from "./finish.ts";
import { clipOf, mixture, noise, scaled, tone } from "./signals.ts";
import { syntheticVoice } from "./synthetic-voice.ts";

const judged = (samples: Float32Array, sampleRateHz?: number): Suitability =>
  finish(analyseClip(clipOf(samples, sampleRateHz))).suitability;

const voice = syntheticVoice();
const man = { pitchHz: 110, tract: 0.84 };
const steady = (hz: number, harmonics: number) =>
  tone({ sampleRateHz: 24_000, durationS: 3, pitchHz: () => hz, harmonics });
const NOTES_HZ = [262, 330, 392, 330, 294, 349];
const melody = tone({
  sampleRateHz: 24_000,
  durationS: 3,
  pitchHz: (timeS) => NOTES_HZ[Math.floor(4 * timeS) % 6]!,
  harmonics: 6,
});
const cut = (samples: Float32Array) => samples.map((sample) => Math.max(-0.3, Math.min(0.3, sample)));

describe("One voice", () => {
  for (const [who, samples] of Object.entries({
    "a woman": voice,
    "a woman in other words": syntheticVoice({ seed: 3 }),
    "a high voice": syntheticVoice({ pitchHz: 250, seed: 1 }),
    "a man": syntheticVoice(man),
    "one in a quiet room": syntheticVoice({ roomDb: -55 }),
    "one that is soft": scaled(voice, 0.03),
    "one at full scale": scaled(voice, 1 / Math.max(...voice.map(Math.abs))),
  })) {
    test(`${who} is trusted, without a caution`, () => {
      assert.deepEqual(judged(samples), { trust: 1, cautions: [] });
    });
  }

  test("a voice over a telephone is trusted; that its band is narrow is said", () => {
    assert.deepEqual(judged(resample(voice, 24_000, 8_000), 8_000), { trust: 1, cautions: ["narrow band"] });
  });
});

describe("What is not one voice", () => {
  for (const [what, caution, samples] of [
    ["an empty clip", "no voice", new Float32Array(0)],
    ["one sample", "no voice", new Float32Array(1).fill(0.5)],
    ["silence", "no voice", new Float32Array(72_000)],
    ["a steady offset", "no voice", new Float32Array(72_000).fill(0.3)],
    ["white noise", "no voice", scaled(noise(72_000, 5), 0.2)],
    ["30 ms of speech", "no voice", voice.slice(3_000, 3_720)],
    ["a sine", "unlike speech", steady(220, 1)],
    ["a square wave", "unlike speech", steady(220, 1).map((sample) => (sample > 0 ? 0.3 : -0.3))],
    ["a chord", "unlike speech", mixture(steady(262, 6), steady(330, 6), steady(392, 6))],
    ["a melody", "unlike speech", melody],
    ["a woman and a man at once", "not one voice", mixture(voice, syntheticVoice({ ...man, seed: 2 }))],
    [
      "others at once",
      "not one voice",
      mixture(syntheticVoice({ pitchHz: 230, seed: 1 }), syntheticVoice({ ...man, seed: 4 })),
    ],
    ["a voice that was cut hard", "clipping", cut(scaled(voice, 5))],
  ] as const satisfies readonly (readonly [string, ClipCaution, Float32Array])[]) {
    test(`${what} is not trusted: ${caution}`, () => {
      const { trust, cautions } = judged(samples);
      assert.ok(trust < 0.1, `${trust}`);
      assert.ok(cautions.includes(caution), cautions.join());
    });
  }

  test("the noisier a voice is, the less it is trusted", () => {
    const trusts = [-60, -36, -30, -24].map((roomDb) => judged(syntheticVoice({ roomDb })).trust);
    assert.deepEqual(
      trusts,
      trusts.toSorted((a, b) => b - a),
    );
    assert.ok(trusts[0] === 1 && trusts.at(-1)! < 0.3, trusts.join());
  });

  test("a voice that is cut a little is trusted more than one that is cut hard", () => {
    const [little, hard] = [judged(cut(scaled(voice, 1.5))).trust, judged(cut(scaled(voice, 3))).trust];
    assert.ok(little > 0.9 && hard < little, `${little} and ${hard}`);
  });
});
