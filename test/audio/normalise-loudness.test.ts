import assert from "node:assert/strict";
import { test } from "node:test";
import { loudnessOf } from "../../src/audio/loudness.ts";
import { normaliseLoudness } from "../../src/audio/normalise-loudness.ts";
import { joinSamples } from "../../src/audio/pcm.ts";
import { PeakLimiter } from "../../src/audio/peak-limiter.ts";
import { resample } from "../../src/audio/resample.ts";

const BLOCK = 1_920;

function* blocksOf(signal: Float32Array): Generator<Float32Array<ArrayBuffer>> {
  for (let at = 0; at < signal.length; at += BLOCK) yield Float32Array.from(signal.subarray(at, at + BLOCK));
}

/** True peak in decibels of full scale (ITU-R BS.1770-5, annex 2). */
function truePeakDb(signal: Float32Array): number {
  return (
    20 * Math.log10(resample(signal, 24_000, 96_000).reduce((peak, x) => Math.max(peak, Math.abs(x)), 0))
  );
}

function limited(signal: Float32Array): Float32Array {
  const limiter = new PeakLimiter();
  return joinSamples([...[...blocksOf(signal)].map((block) => limiter.push(block)), limiter.push(null)]);
}

async function normalised(signal: Float32Array, targetLufs: number): Promise<Float32Array> {
  const parts: Float32Array[] = [];
  const read = async function* () {
    yield* blocksOf(signal);
  };
  for await (const part of normaliseLoudness(read, targetLufs)) parts.push(part);
  return joinSamples(parts);
}

/** Noise with the bursts and gaps of speech. */
function bursts(): Float32Array {
  let state = 1;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 1_073_741_824 - 1;
  };
  return Float32Array.from({ length: 6 * 24_000 }, (_, n) => {
    return 0.06 * random() * (1 + Math.sin(n / 1_900)) ** 2 * (n % 48_000 < 36_000 ? 1 : 0.001);
  });
}

test("the true peak between samples is limited to -1 dBTP (EBU Tech 3341, cases 15 to 19)", () => {
  // Sampled at 45 degrees, so that no sample shows the peak.
  const tone = Float32Array.from(
    { length: 24_000 },
    (_, n) => 1.41 * Math.sin((Math.PI / 2) * n + Math.PI / 4),
  );
  const fade = tone.map((x, n) => x * Math.min(1, n / 6_000, (24_000 - n) / 6_000));
  assert.ok(truePeakDb(fade) > 2.9);
  for (const signal of [fade, bursts().map((x) => 30 * x)]) {
    const peakDb = truePeakDb(limited(signal));
    assert.ok(peakDb <= -1 && peakDb > -2.5, `${peakDb}`);
  }
});

test("what needs no limiting stays as it is", () => {
  const quiet = bursts();
  assert.deepEqual(limited(quiet), quiet);
});

test("a signal gets the loudness within 0.1 LU, whatever the limiter takes", async () => {
  for (const targetLufs of [-30, -23, -16, -10]) {
    const signal = await normalised(bursts(), targetLufs);
    assert.equal(signal.length, bursts().length);
    const lufs = loudnessOf(signal, 24_000)!;
    assert.ok(Math.abs(lufs - targetLufs) < 0.1, `${lufs} for ${targetLufs}`);
    assert.ok(truePeakDb(signal) <= -1);
  }
});

test("silence stays silence", async () => {
  assert.deepEqual(await normalised(new Float32Array(30_000), -16), new Float32Array(30_000));
});
