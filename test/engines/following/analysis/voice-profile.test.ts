import assert from "node:assert/strict";
import { test } from "node:test";
import { resample } from "../../../../src/audio/resample.ts";
import { BANDS } from "../../../../src/engines/following/analysis/bands.ts";
import { percentile } from "../../../../src/engines/following/analysis/statistics.ts";
import {
  analyseClip,
  logPitches,
  type VoiceProfile,
} from "../../../../src/engines/following/analysis/voice-profile.ts";
import fc from "../../../properties.ts";
import { finish } from "./finish.ts";
import { clipOf, mixture, noise, scaled } from "./signals.ts";
import { syntheticVoice } from "./synthetic-voice.ts";

const heard = (samples: Float32Array, sampleRateHz?: number): VoiceProfile =>
  finish(analyseClip(clipOf(samples, sampleRateHz)));

const medianHz = ({ pitch }: VoiceProfile) => Math.exp(percentile(pitch, 0.5));

test("hears the pitch, the speech, the pauses and the syllables of a voice", () => {
  for (const pitchHz of [100, 190, 250]) {
    const profile = heard(syntheticVoice({ pitchHz, durationS: 6, sampleRateHz: 12_000 }), 12_000);
    assert.ok(Math.abs(12 * Math.log2(medianHz(profile) / pitchHz)) < 1, `${medianHz(profile)} Hz`);
    // Four phrases of five syllables in 1.25 s each, with 0.3 s between; the fourth has only begun to end.
    assert.ok(profile.speechS > 4.6 && profile.speechS < 5.4, `${profile.speechS} s of speech`);
    assert.equal(profile.pausesS.length, 3);
    for (const pauseS of profile.pausesS) assert.ok(pauseS > 0.22 && pauseS < 0.38, `a pause of ${pauseS} s`);
    assert.ok(profile.syllablesPerS > 3.4 && profile.syllablesPerS < 4.6, `${profile.syllablesPerS}`);
  }
});

test("hears the same voice at every rate that a clip comes at", () => {
  const voice = syntheticVoice({ sampleRateHz: 48_000, durationS: 2 });
  const wanted = heard(voice, 48_000);
  for (const rateHz of [8_000, 22_050, 24_000, 44_100]) {
    const profile = heard(resample(voice, 48_000, rateHz), rateHz);
    assert.ok(Math.abs(medianHz(profile) / medianHz(wanted) - 1) < 0.005, `${rateHz} Hz`);
    assert.ok(Math.abs(profile.speechS - wanted.speechS) < 0.1, `${rateHz} Hz`);
    assert.ok(Math.abs(profile.loudnessLufs! - wanted.loudnessLufs!) < 0.5, `${rateHz} Hz`);
  }
});

test("a voice twice as loud is 6 dB louder and otherwise the same", () => {
  const voice = syntheticVoice({ roomDb: -200 });
  const [soft, loud] = [heard(voice), heard(scaled(voice, 2))];
  assert.ok(Math.abs(loud.loudnessLufs! - soft.loudnessLufs! - 6.02) < 0.01);
  assert.deepEqual(loud.pitch, soft.pitch);
  assert.equal(loud.speechS, soft.speechS);
});

test("the noise of the room is taken off the spectra", () => {
  const voice = syntheticVoice({ roomDb: -200 });
  const narrow = resample(resample(voice, 24_000, 6_000), 6_000, 24_000);
  const { sound } = heard(mixture(narrow, scaled(noise(narrow.length, 8), 0.003)));
  // Above 3 kHz there is nothing but the noise: of a Hann window's 1200 samples 3/8 of the power.
  const noiseLog = Math.log((0.003 ** 2 / 3) * 1_200 * 0.375);
  for (let band = 30; band < BANDS; band++) {
    const logs = sound.filter((_, at) => at % BANDS === band);
    assert.ok(logs.reduce((sum, log) => sum + log, 0) / logs.length < noiseLog - 0.7, `band ${band}`);
  }
});

test("at most 1000 frames of sound are kept, each known to be voiced or not", () => {
  const { sound, isVoiced } = heard(syntheticVoice({ durationS: 18, sampleRateHz: 4_000 }), 4_000);
  assert.equal(isVoiced.length, 1_000);
  assert.equal(sound.length, 1_000 * BANDS);
});

test("octave slips are left out of the pitch, which goes from low to high", () => {
  const logs = logPitches(Float32Array.of(0, 200, 210, 0, 405, 190, 95, 205, 0));
  assert.deepEqual(
    [...logs].map((log) => Math.round(Math.exp(log))),
    [190, 200, 205, 210],
  );
  assert.equal(logPitches(new Float32Array(4)).length, 0);
});

test("nothing is heard in silence: no loudness, no pitch, no sound", () => {
  for (const length of [0, 1, 24_000]) {
    const { loudnessLufs, pitch, sound, speechS, syllablesPerS } = heard(new Float32Array(length));
    assert.deepEqual([loudnessLufs, pitch.length, sound.length, speechS, syllablesPerS], [null, 0, 0, 0, 0]);
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

test("no clip, of whatever samples and rate, gives a figure that is no number", () => {
  const pattern = fc.array(sample, { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(pattern, rateHz, fc.integer({ min: 0, max: 6_000 }), (some, sampleRateHz, length) => {
      const samples = Float32Array.from({ length }, (_, n) => some[(n * n + (n >> 7)) % some.length]!);
      const profile = heard(samples, sampleRateHz);
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
