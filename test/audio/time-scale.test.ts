import assert from "node:assert/strict";
import { test } from "node:test";
import { joinSamples } from "../../src/audio/pcm.ts";
import { TimeScale } from "../../src/audio/time-scale.ts";
import fc from "../properties.ts";

const RATE_HZ = 24_000;

function scaled(
  samples: Float32Array,
  tempo: number,
  pieces: readonly number[] = [samples.length],
): Float32Array {
  const scale = new TimeScale(tempo);
  const out: Float32Array[] = [];
  let at = 0;
  for (let turn = 0; at < samples.length; turn++) {
    const size = Math.max(1, pieces[turn % pieces.length]!);
    out.push(scale.push(samples.subarray(at, at + size)));
    at += size;
  }
  return joinSamples([...out, scale.end()]);
}

function tone(hz: number, seconds: number): Float32Array {
  return Float32Array.from({ length: Math.round(seconds * RATE_HZ) }, (_, at) =>
    [1, 2, 3].reduce((sum, n) => sum + (0.3 / n) * Math.sin((2 * Math.PI * n * hz * at) / RATE_HZ), 0),
  );
}

const rising = (samples: Float32Array): number =>
  samples.reduce((count, sample, at) => count + (sample >= 0 && (samples[at - 1] ?? 0) < 0 ? 1 : 0), 0);

test("has the length of its tempo", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 9_000 }),
      fc.double({ min: 0.5, max: 2, noNaN: true }),
      (length, tempo) => {
        const samples = Float32Array.from({ length }, (_, at) => Math.sin(at * at * 1e-4));
        const out = scaled(samples, tempo);
        assert.equal(out.length, Math.round(length / tempo));
        assert.ok(out.every((sample) => Math.abs(sample) <= 1.000_001));
      },
    ),
  );
});

test("is the same for chunks of any size", () => {
  const samples = tone(137, 0.6);
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 5 }),
      fc.constantFrom(0.5, 0.71, 1.6, 2),
      (pieces, tempo) => assert.deepEqual(scaled(samples, tempo, pieces), scaled(samples, tempo)),
    ),
    { numRuns: 30 },
  );
});

test("keeps pitch and level of a voice", () => {
  for (const hz of [60, 110, 220, 400]) {
    for (const tempo of [0.5, 0.714, 1.6, 2]) {
      const out = scaled(tone(hz, 1.5), tempo);
      const heardHz = (rising(out) * RATE_HZ) / out.length;
      assert.ok(Math.abs(heardHz / hz - 1) < 0.05, `${hz} Hz at ${tempo}: ${heardHz} Hz`);
      const level = (of: Float32Array) => Math.sqrt(of.reduce((sum, x) => sum + x * x, 0) / of.length);
      assert.ok(Math.abs(20 * Math.log10(level(out) / level(tone(hz, 1.5)))) < 0.5, `${hz} Hz at ${tempo}`);
    }
  }
});

test("changes nothing at a tempo of 1, and keeps places at others", () => {
  const samples = tone(180, 0.5);
  assert.deepEqual(scaled(samples, 1), samples);
  const click = new Float32Array(RATE_HZ);
  click.fill(0.5, 12_000, 12_600);
  for (const tempo of [0.5, 2]) {
    const out = scaled(click, tempo);
    const first = out.findIndex((sample) => Math.abs(sample) > 0.05);
    assert.ok(Math.abs(first - 12_000 / tempo) < 1_000, `${tempo}: ${first}`);
  }
});
