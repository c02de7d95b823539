import assert from "node:assert/strict";
import { test } from "node:test";
import { RecordingTooLongError } from "../../../src/audio/recordings/recording.ts";
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

test("a high rate is converted block by block to what it would be in one piece", () => {
  for (const [rateHz, count] of [
    [44_100, 44_100 * 75 + 17],
    [48_000, 48_000 * 40],
    [655_350, 655_350 * 3 + 1],
    [44_101, 44_101 * 3],
    [96_000, 5],
  ] as const) {
    const samples = noise(count);
    const sink = new SampleSink(rateHz, 1_000);
    for (let at = 0; at < count; at += 99_991) sink.add([samples.subarray(at, at + 99_991)]);
    const recording = sink.finish();
    const whole = resample(samples, rateHz, 16_000);
    assert.equal(recording.sampleRateHz, 16_000);
    assert.equal(recording.samples.length, whole.length, `${rateHz}`);
    assert.equal(recording.durationS, count / rateHz);
    const worst = whole.reduce(
      (most, value, at) => Math.max(most, Math.abs(value - recording.samples[at]!)),
      0,
    );
    assert.ok(worst < 1e-6, `${rateHz} Hz: ${worst}`);
  }
});

test("however it comes in pieces, a low rate is kept, mixed down and clipped", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.float({ min: -2, max: 2, noNaN: true }), { maxLength: 50 }), {
        minLength: 1,
        maxLength: 8,
      }),
      (pieces) => {
        const sink = new SampleSink(8_000, 10);
        for (const piece of pieces) sink.add([Float32Array.from(piece), new Float32Array(piece.length)]);
        const all = pieces.flat();
        if (all.length === 0) {
          assert.throws(() => sink.finish(), { message: /it has no samples/ });
          return;
        }
        const { samples } = sink.finish();
        assert.deepEqual(
          [...samples],
          [...Float32Array.from(all, (value) => Math.max(-1, Math.min(1, value / 2)))],
        );
      },
    ),
  );
});

test("more than is taken, and what is no number, is refused", () => {
  const sink = new SampleSink(8_000, 1);
  sink.add([new Float32Array(8_000)]);
  assert.throws(() => sink.add([new Float32Array(1)]), RecordingTooLongError);
  const other = new SampleSink(8_000, 1);
  assert.throws(() => other.add([Float32Array.of(0, Number.NaN)]), {
    message: /sample 1 is not a finite number/,
  });
});
