import assert from "node:assert/strict";
import { test } from "node:test";
import { LoudnessMeter, loudnessOf } from "../../src/audio/loudness.ts";
import { joinSamples } from "../../src/audio/pcm.ts";
import fc from "../properties.ts";

interface Part {
  readonly durationS: number;
  /** Amplitude in decibels below full scale. */
  readonly db: number;
}

function tone(sampleRateHz: number, ...parts: readonly Part[]): Float32Array {
  const totalS = parts.reduce((sum, { durationS }) => sum + durationS, 0);
  const samples = new Float32Array(Math.round(totalS * sampleRateHz));
  let n = 0;
  let untilS = 0;
  for (const { durationS, db } of parts) {
    untilS += durationS;
    const amplitude = 10 ** (db / 20);
    for (; n < untilS * sampleRateHz; n++)
      samples[n] = amplitude * Math.sin((2 * Math.PI * 997 * n) / sampleRateHz);
  }
  return samples;
}

function assertLoudness(samples: Float32Array, sampleRateHz: number, lufs: number, tolerance = 0.1): void {
  const actual = loudnessOf(samples, sampleRateHz);
  assert.ok(actual !== null && Math.abs(actual - lufs) <= tolerance, `${actual} for ${lufs}`);
}

/** Difference of one channel to the two of EBU Tech 3341. */
const MONO_LU = 10 * Math.log10(0.5);

for (const rateHz of [16_000, 22_050, 24_000, 44_100, 48_000, 96_000]) {
  test(`a 997 Hz tone at ${rateHz} Hz reads its level less 3.01`, () => {
    for (const db of [0, -20, -33, -60])
      assertLoudness(tone(rateHz, { durationS: 3, db }), rateHz, db + MONO_LU);
  });
}

for (const rateHz of [16_000, 24_000, 48_000]) {
  test(`quiet parts are gated at ${rateHz} Hz (EBU Tech 3341, cases 3 and 4)`, () => {
    const [quiet, loud, faint] = [-36, -23, -72];
    const inner = [
      { durationS: 1.5, db: quiet },
      { durationS: 30, db: loud },
      { durationS: 1.5, db: quiet },
    ];
    const outer = { durationS: 2, db: faint };
    assertLoudness(tone(rateHz, ...inner), rateHz, loud + MONO_LU);
    assertLoudness(tone(rateHz, outer, ...inner, outer), rateHz, loud + MONO_LU);
  });
}

test("parts within the gate count by energy (EBU Tech 3341, case 5)", () => {
  const parts = [
    { durationS: 20, db: -26 },
    { durationS: 20.1, db: -20 },
    { durationS: 20, db: -26 },
  ];
  assertLoudness(tone(24_000, ...parts), 24_000, -23 + MONO_LU);
});

test("at 8 kHz a tone reads its level less 3.01 within 0.25", () => {
  assertLoudness(tone(8_000, { durationS: 2, db: -20 }), 8_000, -20 + MONO_LU, 0.25);
});

test("the weighting matches the standard's tables at 48 and 24 kHz", () => {
  for (const hz of [25, 100, 500, 997, 2_000, 4_000]) {
    const expected = tableDb(hz) - 0.691 + MONO_LU;
    assert.ok(Math.abs(loudnessOf(sine(hz, 48_000), 48_000)! - expected) < 0.01, `${hz} Hz at 48 kHz`);
    assert.ok(Math.abs(loudnessOf(sine(hz, 24_000), 24_000)! - expected) < 0.03, `${hz} Hz at 24 kHz`);
  }
});

function sine(hz: number, rateHz: number): Float32Array {
  return Float32Array.from({ length: 8 * rateHz }, (_, n) => Math.sin((2 * Math.PI * hz * n) / rateHz));
}

/** Gain of the two filters as BS.1770-5 prints them. */
function tableDb(hz: number): number {
  const shelf = gainDb([1.53512485958697, -2.69169618940638, 1.19839281085285], hz);
  const shelfPoles = gainDb([1, -1.69065929318241, 0.73248077421585], hz);
  const highPass = gainDb([1, -2, 1], hz);
  const highPassPoles = gainDb([1, -1.99004745483398, 0.99007225036621], hz);
  return shelf - shelfPoles + highPass - highPassPoles;
}

function gainDb(coefficients: readonly number[], hz: number): number {
  const angle = (2 * Math.PI * hz) / 48_000;
  const re = coefficients.reduce((sum, value, i) => sum + value * Math.cos(i * angle), 0);
  const im = coefficients.reduce((sum, value, i) => sum + value * Math.sin(i * angle), 0);
  return 10 * Math.log10(re * re + im * im);
}

test("a signal shorter than 400 ms is one block", () => {
  for (const durationS of [0.05, 0.2, 0.399])
    assertLoudness(tone(24_000, { durationS, db: -20 }), 24_000, -20 + MONO_LU);
});

test("returns null for silence, a constant offset, and below the gate", () => {
  assert.equal(loudnessOf(new Float32Array(0), 24_000), null);
  assert.equal(loudnessOf(new Float32Array(100_000), 24_000), null);
  assert.equal(loudnessOf(tone(24_000, { durationS: 2, db: -72 }), 24_000), null);
  assert.equal(loudnessOf(new Float32Array(30_000).fill(1e-42), 24_000), null);
});

test("skips blocks with non-finite samples", () => {
  const samples = tone(24_000, { durationS: 4, db: -20 });
  samples[30_000] = Number.NaN;
  samples[31_000] = Number.POSITIVE_INFINITY;
  assertLoudness(samples, 24_000, -20 + MONO_LU);
});

test("rises in LU as the signal does in decibels", () => {
  const db = fc.double({ min: -20, max: 20, noNaN: true });
  const block = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 400, maxLength: 2_000 });
  fc.assert(
    fc.property(block, db, fc.integer({ min: 4_000, max: 48_000 }), (values, gainDb, rateHz) => {
      const samples = Float32Array.from(values);
      const lufs = loudnessOf(samples, rateHz);
      if (lufs === null || lufs < -45) return;
      const gain = 10 ** (gainDb / 20);
      assertLoudness(
        samples.map((sample) => gain * sample),
        rateHz,
        lufs + gainDb,
        0.001,
      );
    }),
  );
});

test("a signal measures the same in parts of any length", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(9_000), { maxLength: 12 }),
      fc.integer({ min: 4_000, max: 48_000 }),
      (lengths, hz) => {
        const meter = new LoudnessMeter(hz);
        const parts = lengths.map((length, at) => tone(24_000, { durationS: length / 24_000, db: -6 * at }));
        for (const part of parts) meter.push(part);
        const whole = loudnessOf(joinSamples(parts), hz);
        const lufs = meter.measure()?.lufs ?? null;
        assert.ok(whole === lufs || Math.abs(whole! - lufs!) < 1e-6, `${whole}, ${lufs}`);
      },
    ),
  );
});
