import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FRAME_SAMPLES, wholeSamples } from "../../../src/audio/format.ts";
import { FrameBuilder } from "../../../src/engines/prosody/utterance.ts";
import fc from "../../properties.ts";

/** Numbers of quiet samples, or of silence (negative). */
const blocks = fc.array(fc.integer({ min: -5_000, max: 5_000 }), { maxLength: 20 });

describe("FrameBuilder", () => {
  it("fills every frame but the last, with every sample in its place", () => {
    fc.assert(
      fc.property(blocks, (lengths) => {
        const builder = new FrameBuilder();
        const frames: Float32Array[] = [];
        const expected: number[] = [];
        for (const length of lengths) {
          for (let left = wholeSamples(Math.abs(length)); left > 0; ) {
            if (length < 0) {
              const over = builder.addSilence(left);
              for (let i = over; i < left; i++) expected.push(0);
              left = over;
            } else {
              const value = (left % 1_000) / 2_000;
              builder.samples[builder.filled] = value;
              builder.settle(wholeSamples(1));
              expected.push(Math.fround(value));
              left = wholeSamples(left - 1);
            }
            if (builder.isFull) frames.push(builder.take().samples);
          }
        }
        if (!builder.isEmpty) frames.push(builder.take().samples);
        for (const frame of frames.slice(0, -1)) assert.equal(frame.length, FRAME_SAMPLES);
        assert.deepEqual(
          frames.flatMap((frame) => [...frame]),
          expected,
        );
      }),
      { numRuns: 50 },
    );
  });

  it("limits samples to [-1, 1], and passes those below 0.8 unchanged", () => {
    fc.assert(
      fc.property(fc.double({ min: -50, max: 50, noNaN: true }), (value) => {
        const builder = new FrameBuilder();
        builder.samples[0] = value;
        builder.settle(wholeSamples(1));
        const [sample = Number.NaN] = builder.take().samples;
        assert.ok(Math.abs(sample) <= 1);
        if (Math.abs(value) <= 0.8) assert.equal(sample, Math.fround(value));
      }),
    );
  });
});
