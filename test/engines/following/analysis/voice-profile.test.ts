import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { joinSamples } from "../../../../src/audio/pcm.ts";
import { resample } from "../../../../src/audio/resample.ts";
import { BANDS } from "../../../../src/engines/following/analysis/bands.ts";
import type {
  ClipCaution,
  Suitability,
} from "../../../../src/engines/following/analysis/recording-conditions.ts";
import { percentile } from "../../../../src/engines/following/analysis/statistics.ts";
import {
  analyseClip,
  logPitches,
  mergeProfiles,
  type VoiceProfile,
} from "../../../../src/engines/following/analysis/voice-profile.ts";
import fc from "../../../properties.ts";
import { finish } from "./finish.ts";
import { profileOf } from "./profiles.ts";
import { clipOf, mixture, noise, scaled, tone } from "./signals.ts";
import { syntheticVoice } from "./synthetic-voice.ts";

const analysed = (samples: Float32Array, sampleRateHz?: number): VoiceProfile =>
  finish(analyseClip(clipOf(samples, sampleRateHz)));

const medianHz = ({ pitch }: VoiceProfile) => Math.exp(percentile(pitch, 0.5));

describe("analyseClip", () => {
  it("measures pitch, speech, pauses and syllables", () => {
    for (const pitchHz of [100, 190, 250]) {
      const profile = analysed(syntheticVoice({ pitchHz, durationS: 6, sampleRateHz: 12_000 }), 12_000);
      assert.ok(Math.abs(12 * Math.log2(medianHz(profile) / pitchHz)) < 1, `${medianHz(profile)} Hz`);
      // Nearly four phrases of 1.25 s, with 0.3 s between.
      assert.ok(profile.speechS > 4.6 && profile.speechS < 5.4, `${profile.speechS} s of speech`);
      assert.equal(profile.pausesS.length, 3);
      for (const pauseS of profile.pausesS)
        assert.ok(pauseS > 0.22 && pauseS < 0.38, `a pause of ${pauseS} s`);
      assert.ok(profile.syllablesPerS > 3.4 && profile.syllablesPerS < 4.6, `${profile.syllablesPerS}`);
    }
  });

  it("measures alike at every rate", () => {
    const voice = syntheticVoice({ sampleRateHz: 48_000, durationS: 2 });
    const wanted = analysed(voice, 48_000);
    for (const rateHz of [8_000, 22_050, 24_000, 44_100]) {
      const profile = analysed(resample(voice, 48_000, rateHz), rateHz);
      assert.ok(Math.abs(medianHz(profile) / medianHz(wanted) - 1) < 0.005, `${rateHz} Hz`);
      assert.ok(Math.abs(profile.speechS - wanted.speechS) < 0.1, `${rateHz} Hz`);
      assert.ok(Math.abs(profile.loudnessLufs! - wanted.loudnessLufs!) < 0.5, `${rateHz} Hz`);
    }
  });

  it("measures only the level differently for a louder voice", () => {
    const voice = syntheticVoice({ roomDb: -200 });
    const [soft, loud] = [analysed(voice), analysed(scaled(voice, 2))];
    assert.ok(Math.abs(loud.loudnessLufs! - soft.loudnessLufs! - 6.02) < 0.01);
    assert.deepEqual(loud.pitch, soft.pitch);
    assert.equal(loud.speechS, soft.speechS);
  });

  it("subtracts room noise from the spectra", () => {
    const voice = syntheticVoice({ roomDb: -200 });
    const narrow = resample(resample(voice, 24_000, 6_000), 6_000, 24_000);
    const { sound } = analysed(mixture(narrow, scaled(noise(narrow.length, 8), 0.003)));
    // Only noise above 3 kHz: a Hann window of 1200 samples passes 3/8 of the power.
    const noiseLog = Math.log((0.003 ** 2 / 3) * 1_200 * 0.375);
    for (let band = 30; band < BANDS; band++) {
      const logs = sound.filter((_, at) => at % BANDS === band);
      assert.ok(logs.reduce((sum, log) => sum + log, 0) / logs.length < noiseLog - 0.7, `band ${band}`);
    }
  });

  it("keeps at most 1,000 frames, each with its voicing", () => {
    const { sound, isVoiced } = analysed(syntheticVoice({ durationS: 18, sampleRateHz: 4_000 }), 4_000);
    assert.equal(isVoiced.length, 1_000);
    assert.equal(sound.length, 1_000 * BANDS);
  });

  it("measures nothing in silence", () => {
    for (const length of [0, 1, 24_000]) {
      const { loudnessLufs, pitch, sound, speechS, syllablesPerS } = analysed(new Float32Array(length));
      assert.deepEqual(
        [loudnessLufs, pitch.length, sound.length, speechS, syllablesPerS],
        [null, 0, 0, 0, 0],
      );
    }
  });

  const sample = fc.oneof(
    fc.float({ min: -1, max: 1, noNaN: true }),
    fc.constantFrom(1, -1, 0, 1e-42, -1e-42, 1e-38, 1.5, Number.NaN, Infinity, -Infinity),
  );
  const rateHz = fc.oneof(
    fc.integer({ min: 1_000, max: 768_000 }),
    fc.constantFrom(1_000, 8_000, 11_025, 24_000, 44_101, 768_000),
  );

  it("returns finite figures for any clip", () => {
    const pattern = fc.array(sample, { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(pattern, rateHz, fc.integer({ min: 0, max: 6_000 }), (some, sampleRateHz, length) => {
        const samples = Float32Array.from({ length }, (_, n) => some[(n * n + (n >> 7)) % some.length]!);
        const profile = analysed(samples, sampleRateHz);
        const { speechS, loudnessLufs, syllablesPerS, recording, suitability } = profile;
        for (const figure of [
          speechS,
          loudnessLufs ?? 0,
          syllablesPerS,
          suitability.trust,
          ...Object.values(recording),
          ...profile.pausesS,
          ...profile.pitch,
          ...profile.sound,
        ]) {
          assert.ok(Number.isFinite(figure));
        }
        assert.ok(suitability.trust >= 0 && suitability.trust <= 1);
        assert.equal(profile.sound.length, profile.isVoiced.length * BANDS);
      }),
      { numRuns: 30 },
    );
  });
});

it("logPitches drops octave errors, and sorts", () => {
  const logs = logPitches(Float32Array.of(0, 200, 210, 0, 405, 190, 95, 205, 0));
  const pitchesHz = [...logs].map((log) => Math.round(Math.exp(log)));
  assert.deepEqual(pitchesHz, [190, 200, 205, 210]);
  assert.equal(logPitches(new Float32Array(4)).length, 0);
});

const pitchOf = (frames: number, hz: number) => new Float32Array(frames).fill(Math.log(hz));

describe("mergeProfiles", () => {
  it("returns a single good profile unchanged", () => {
    const profile = profileOf({ cautions: ["noise"], trust: 0.7, pausesS: [0.3, 0.2], loudnessLufs: -22 });
    const all = mergeProfiles([profile])!;
    assert.ok(Math.abs(all.loudnessLufs! - -22) < 1e-9);
    assert.deepEqual({ ...all, loudnessLufs: -22 }, profile);
  });

  it("weights clips by their speech", () => {
    const all = mergeProfiles([
      profileOf({ speechS: 6, syllablesPerS: 3, trust: 0.8, pausesS: [0.4] }),
      profileOf({
        speechS: 2,
        syllablesPerS: 5,
        pausesS: [0.2],
        recording: { signalToNoiseDb: 20, bandEdgeHz: 3_400, clippedShare: 0.04 },
      }),
    ])!;
    assert.equal(all.speechS, 8);
    assert.equal(all.syllablesPerS, 3.5);
    assert.ok(Math.abs(all.suitability.trust - 0.85) < 1e-9);
    assert.deepEqual(all.pausesS, [0.4, 0.2]);
    assert.deepEqual(all.recording, { signalToNoiseDb: 35, bandEdgeHz: 3_400, clippedShare: 0.01 });
  });

  it("averages loudness as power, over clips with a level", () => {
    const all = mergeProfiles([profileOf({ loudnessLufs: -20 }), profileOf({ loudnessLufs: -40 })])!;
    assert.ok(Math.abs(all.loudnessLufs! - -22.97) < 0.01, `${all.loudnessLufs}`);
    assert.equal(mergeProfiles([profileOf({ loudnessLufs: null })])!.loudnessLufs, null);
  });

  it("joins spectra in order, and sorts pitches", () => {
    const all = mergeProfiles([
      profileOf({ pitch: pitchOf(100, 200), sound: Float32Array.of(1, 2), isVoiced: Uint8Array.of(1) }),
      profileOf({ pitch: pitchOf(50, 150), sound: Float32Array.of(3), isVoiced: Uint8Array.of(0) }),
    ])!;
    assert.deepEqual(all.pitch, Float32Array.from([...pitchOf(50, 150), ...pitchOf(100, 200)]));
    assert.deepEqual([...all.sound], [1, 2, 3]);
    assert.deepEqual([...all.isVoiced], [1, 0]);
  });

  it("drops a clip with less than half of the best trust, and its cautions", () => {
    const good = profileOf({ trust: 0.9 });
    const all = mergeProfiles([profileOf({ trust: 0.4, cautions: ["noise"], speechS: 20 }), good])!;
    assert.equal(all.speechS, good.speechS);
    assert.deepEqual(all.suitability.cautions, []);
  });

  it("lists each caution once", () => {
    const all = mergeProfiles([
      profileOf({ cautions: ["noise", "clipping"] }),
      profileOf({ cautions: ["noise", "narrow band"] }),
    ])!;
    assert.deepEqual(all.suitability.cautions, ["noise", "clipping", "narrow band"]);
  });

  it("trusts little speech less, also in several clips", () => {
    const short = profileOf({ pitch: pitchOf(48, 180), speechS: 1 });
    const one = mergeProfiles([short])!.suitability;
    assert.ok(Math.abs(one.trust - 0.5) < 1e-6);
    assert.deepEqual(one.cautions, ["short"]);
    assert.deepEqual(mergeProfiles([short, short])!.suitability, { trust: 1, cautions: [] });
  });

  it("returns null for no clips, or only untrusted ones", () => {
    assert.equal(mergeProfiles([]), null);
    const untrusted = [profileOf({ trust: 0 }), profileOf({ trust: 0, cautions: ["no voice"] })];
    assert.equal(mergeProfiles(untrusted), null);
  });
});

const suitabilityOf = (samples: Float32Array, sampleRateHz?: number): Suitability =>
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

describe("analyseClip", () => {
  for (const [who, samples] of Object.entries({
    "a woman": voice,
    "a woman in other words": syntheticVoice({ seed: 3 }),
    "a high voice": syntheticVoice({ pitchHz: 250, seed: 1 }),
    "a man": syntheticVoice(man),
    "a voice in a quiet room": syntheticVoice({ roomDb: -55 }),
    "a woman who goes on": joinSamples([voice, syntheticVoice({ pitchHz: 205, seed: 3 })]),
    "a soft voice": scaled(voice, 0.03),
    "a voice at full scale": scaled(voice, 1 / Math.max(...voice.map(Math.abs))),
  }))
    it(`trusts ${who} without a caution`, () => {
      assert.deepEqual(suitabilityOf(samples), { trust: 1, cautions: [] });
    });

  it("trusts a telephone voice, with the caution that it is narrow", () => {
    const narrow = suitabilityOf(resample(voice, 24_000, 8_000), 8_000);
    assert.deepEqual(narrow, { trust: 1, cautions: ["narrow band"] });
  });

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
    it(`does not trust ${what}: ${caution}`, () => {
      const { trust, cautions } = suitabilityOf(samples);
      assert.ok(trust < 0.1, `${trust}`);
      assert.ok(cautions.includes(caution), cautions.join());
    });
  }

  for (const [what, ...halves] of [
    ["a woman and then a man", voice, syntheticVoice({ ...man, seed: 2 })],
    ["a man and then a woman who says less", syntheticVoice(man), voice.slice(0, 48_000)],
  ] as const)
    it(`trusts ${what} less: not one voice`, () => {
      const { trust, cautions } = suitabilityOf(joinSamples(halves));
      assert.ok(trust < 0.5, `${trust}`);
      assert.deepEqual(cautions, ["not one voice"]);
    });

  it("trusts a noisier voice less", () => {
    const trusts = [-60, -36, -30, -24].map((roomDb) => suitabilityOf(syntheticVoice({ roomDb })).trust);
    assert.deepEqual(
      trusts,
      trusts.toSorted((a, b) => b - a),
    );
    assert.ok(trusts[0] === 1 && trusts.at(-1)! < 0.3, trusts.join());
  });

  it("trusts a voice less the more it is clipped", () => {
    const [little, hard] = [1.5, 3].map((gain) => suitabilityOf(cut(scaled(voice, gain))).trust) as [
      number,
      number,
    ];
    assert.ok(little > 0.9 && hard < little, `${little} and ${hard}`);
  });
});
