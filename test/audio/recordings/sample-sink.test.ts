import assert from "node:assert/strict";
import { test } from "node:test";
import { joinSamples } from "../../../src/audio/pcm.ts";
import type { DecodedBlock } from "../../../src/audio/recordings/recording.ts";
import { SampleSink } from "../../../src/audio/recordings/sample-sink.ts";
import { resample } from "../../../src/audio/resample.ts";
import fc from "../../properties.ts";

function noise(count: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state / 2 ** 32;
  });
}

function block(channels: readonly Float32Array[]): DecodedBlock {
  return { channels, from: 0, to: channels[0]!.length, scale: 1 };
}

test("a high rate is converted in chunks as in one piece, bit for bit", () => {
  for (const [rateHz, count] of [
    [44_100, 44_100 * 75 + 17],
    [48_000, 48_000 * 40],
    [96_000, 96_000 * 3 + 1],
    [44_101, 44_101 * 3],
    [96_000, 5],
  ] as const) {
    const samples = noise(count);
    const sink = new SampleSink(rateHz);
    const taken: Float32Array[] = [];
    for (let at = 0; at < count; at += 99_991) {
      sink.add(block([samples.subarray(at, at + 99_991)]));
      taken.push(sink.take(7_919));
    }
    sink.end();
    taken.push(sink.take(count));
    assert.equal(sink.sampleRateHz, 16_000);
    assert.equal(sink.received, count);
    assert.equal(sink.available, 0);
    const whole = resample(samples, rateHz, 16_000).map((sample) => Math.max(-1, Math.min(1, sample)));
    assert.deepEqual(joinSamples(taken), whole, `${rateHz}`);
  }
});

test("a low rate is kept, mixed down and clipped, however it is cut", () => {
  const piece = fc.array(fc.float({ min: -2, max: 2, noNaN: true }), { minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(fc.array(fc.tuple(piece, fc.nat(60)), { minLength: 1, maxLength: 8 }), (pieces) => {
      const sink = new SampleSink(8_000);
      const taken: number[] = [];
      for (const [samples, count] of pieces) {
        sink.add(block([Float32Array.from(samples), new Float32Array(samples.length)]));
        taken.push(...sink.take(count));
      }
      sink.end();
      taken.push(...sink.take(1_000));
      const all = Float32Array.from(pieces.flatMap(([samples]) => samples));
      assert.deepEqual(taken, [...all.map((value) => Math.max(-1, Math.min(1, (value + 0) / 2)))]);
    }),
  );
});

test("trimmed samples are dropped, and the rest scaled", () => {
  const sink = new SampleSink(8_000);
  sink.add({
    channels: [Int32Array.of(9, 64, -128, 9), Int32Array.of(9, 64, 0, 9)],
    from: 1,
    to: 3,
    scale: 1 / 128,
  });
  assert.deepEqual([...sink.take(9)], [0.5, -0.5]);
});

test("a non-finite sample is refused by its place", () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    const sink = new SampleSink(8_000);
    sink.add(block([Float32Array.of(0)]));
    assert.throws(() => sink.add(block([Float32Array.of(0, value)])), {
      message: /sample 2 is not a finite number/,
    });
  }
});
