import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type PitchTrack, trackPitch } from "../../../../src/engines/following/analysis/pitch-track.ts";
import fc from "../../../properties.ts";
import { finish } from "./finish.ts";
import { noise, type Tone, tone } from "./signals.ts";

const FRAME_S = 0.0125;

function track(samples: Float32Array, sampleRateHz: number): PitchTrack {
  return finish(trackPitch(samples, sampleRateHz));
}

interface Score {
  /** Share of inner frames that are unvoiced or more than 20 % off. */
  readonly gross: number;
  /** Median error of the others, in semitones. */
  readonly fineSt: number;
}

function score(spec: Tone): Score {
  const { pitchHz } = track(tone(spec), spec.sampleRateHz);
  const inner = [...pitchHz.entries()].slice(4, -4);
  const distances = inner.map(([n, hz]) => Math.abs(12 * Math.log2(hz / spec.pitchHz(n * FRAME_S))));
  const right = distances.filter((distance) => distance < 12 * Math.log2(1.2)).sort((a, b) => a - b);
  return { gross: 1 - right.length / inner.length, fineSt: right[right.length >> 1] ?? Number.NaN };
}

function vibrato(middleHz: number): (timeS: number) => number {
  return (timeS) => middleHz * 2 ** (Math.sin(2 * Math.PI * 5 * timeS) / 12);
}

const VOICES_HZ = [58, 75, 100, 140, 190, 260, 340, 430];
const common = { sampleRateHz: 24_000, durationS: 2 };

describe("trackPitch", () => {
  it("follows a sine within 2 cents at every rate", () => {
    for (const sampleRateHz of [4_000, 8_000, 16_000, 22_050, 24_000, 44_100, 48_000]) {
      for (const hz of [60, 123, 251, 377]) {
        const { gross, fineSt } = score({ sampleRateHz, durationS: 1, pitchHz: () => hz, harmonics: 1 });
        assert.equal(gross, 0, `${hz} Hz at ${sampleRateHz}`);
        assert.ok(fineSt < 0.02, `${hz} Hz at ${sampleRateHz} is ${fineSt} semitones off`);
      }
    }
  });

  it("follows vibrato within its octave, clean and in noise at 10 dB", () => {
    for (const hz of VOICES_HZ) {
      for (const snrDb of [200, 10]) {
        const { gross, fineSt } = score({ ...common, pitchHz: vibrato(hz), harmonics: 20, snrDb });
        assert.ok(gross < 0.01, `${gross} of the frames at ${hz} Hz and ${snrDb} dB`);
        assert.ok(fineSt < 0.2, `${hz} Hz at ${snrDb} dB is ${fineSt} semitones off`);
      }
    }
  });

  it("stays in its octave when the second harmonic is louder", () => {
    for (const hz of VOICES_HZ) {
      const first = tone({ ...common, pitchHz: () => hz, harmonics: 1 });
      const second = tone({ ...common, pitchHz: () => 2 * hz, harmonics: 1 });
      const { pitchHz } = track(
        first.map((sample, n) => sample + 1.5 * second[n]!),
        24_000,
      );
      const wrong = pitchHz.subarray(4, -4).filter((value) => Math.abs(value / hz - 1) > 0.01);
      assert.equal(wrong.length, 0, `${hz} Hz`);
    }
  });

  it("finds a pitch without its first harmonic", () => {
    const full = tone({ ...common, pitchHz: () => 120, harmonics: 20 });
    const first = tone({ ...common, pitchHz: () => 120, harmonics: 1 });
    const { pitchHz } = track(
      full.map((sample, n) => sample - first[n]!),
      24_000,
    );
    assert.ok(pitchHz.subarray(4, -4).every((value) => Math.abs(value - 120) < 1));
  });

  it("calls silence, an offset, a ramp and a low hum unvoiced", () => {
    const ramp = Float32Array.from({ length: 24_000 }, (_, n) => n / 24_000 - 0.5);
    const hum = tone({ ...common, pitchHz: () => 30, harmonics: 1 });
    for (const samples of [new Float32Array(24_000), new Float32Array(24_000).fill(1), ramp, hum]) {
      const { pitchHz } = track(samples, 24_000);
      assert.ok(pitchHz.subarray(4, -4).every((value) => value === 0));
    }
  });

  it("calls at least 98 % of white noise unvoiced", () => {
    for (const sampleRateHz of [8_000, 24_000, 48_000]) {
      const { pitchHz } = track(noise(5 * sampleRateHz, sampleRateHz), sampleRateHz);
      assert.ok(pitchHz.filter((value) => value > 0).length <= 0.02 * pitchHz.length);
    }
  });

  it("finds the bounds of a voice within 25 ms, and drops 20 ms of it", () => {
    const samples = new Float32Array(48_000);
    const voice = tone({ ...common, pitchHz: () => 130, harmonics: 20 });
    samples.set(voice.subarray(0, 12_000), 12_000);
    samples.set(voice.subarray(0, 480), 36_000);
    const voiced = [...track(samples, 24_000).pitchHz.entries()].filter(([, hz]) => hz > 0).map(([n]) => n);
    assert.ok(Math.abs(voiced[0]! * FRAME_S - 0.5) <= 0.025, `begins at ${voiced[0]! * FRAME_S} s`);
    assert.ok(Math.abs(voiced.at(-1)! * FRAME_S - 1) <= 0.025, `ends at ${voiced.at(-1)! * FRAME_S} s`);
  });

  const loudness = fc.constantFrom(1e-42, 1e-12, 1e-4, 1, 1e5, 3e38);
  const shape = fc.constantFrom("noise", "square", "sine", "spikes", "broken");
  const length = fc.integer({ min: 0, max: 3_000 });
  const rateHz = fc.constantFrom(2_000, 8_000, 11_025, 24_000, 44_100, 44_101, 96_000);

  it("returns a value in range for every 12.5 ms of any samples", () => {
    fc.assert(
      fc.property(loudness, shape, length, rateHz, fc.integer(), (peak, form, count, sampleRateHz, seed) => {
        const wave = {
          noise: (n: number) => Math.sin(n * n + seed),
          square: (n: number) => ((n >> 4) & 1 ? 1 : -1),
          sine: (n: number) => Math.sin(n / 20),
          spikes: (n: number) => (n % 97 === 0 ? 1 : 0),
          broken: (n: number) => (n % 5 === 0 ? Number.NaN : n % 7 === 0 ? Number.POSITIVE_INFINITY : 1),
        }[form];
        const samples = Float32Array.from({ length: count }, (_, n) => peak * wave(n));
        const { pitchHz } = track(samples, sampleRateHz);
        assert.equal(pitchHz.length, Math.floor((count * 80) / sampleRateHz));
        assert.ok(pitchHz.every((hz) => hz === 0 || (hz >= 55 && hz <= 500)));
      }),
      { numRuns: 60 },
    );
  });

  it("does not depend on the level", () => {
    const quiet = tone({ ...common, pitchHz: vibrato(170), harmonics: 20, snrDb: 15 });
    const { pitchHz } = track(quiet, 24_000);
    const louder = track(
      quiet.map((sample) => 8 * sample),
      24_000,
    ).pitchHz;
    assert.ok(pitchHz.every((hz, n) => Math.abs(hz - louder[n]!) < 0.01));
  });

  it("yields at least four times per second of audio", () => {
    let turns = 0;
    const samples = tone({ ...common, durationS: 10, pitchHz: () => 150, harmonics: 3 });
    for (const work = trackPitch(samples, 24_000); !work.next().done; ) turns++;
    assert.ok(turns >= 40, `${turns} times in 10 s`);
  });
});
