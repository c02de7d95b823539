import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FRAME_SAMPLES } from "../../src/audio/format.ts";
import { Framer } from "../../src/audio/framing.ts";

const lengths = fc.array(fc.oneof(fc.nat({ max: 9 }), fc.nat({ max: 5_000 }), fc.constant(FRAME_SAMPLES)), {
  maxLength: 12,
});

test("keeps every sample in order, in frames of 1920 and one last rest, for blocks of any sizes", () => {
  fc.assert(
    fc.property(lengths, fc.boolean(), (sizes, takesAsItGoes) => {
      const framer = new Framer();
      const frames: Float32Array[] = [];
      const takeAll = () => {
        for (let frame = framer.take(); frame !== null; frame = framer.take()) frames.push(frame);
      };
      let next = 0;
      for (const size of sizes) {
        framer.push(Float32Array.from({ length: size }, () => next++));
        if (takesAsItGoes) takeAll();
      }
      takeAll();
      assert.ok(frames.every((frame) => frame.length === FRAME_SAMPLES));
      assert.equal(framer.bufferedSamples, next % FRAME_SAMPLES);
      const rest = framer.flush();
      assert.equal(rest?.length ?? 0, next % FRAME_SAMPLES);
      assert.equal(framer.flush(), null);
      const samples = [...frames, ...(rest === null ? [] : [rest])].flatMap((frame) => [...frame]);
      assert.equal(samples.length, next);
      assert.ok(samples.every((sample, i) => sample === i));
    }),
  );
});

test("flush before take gives frames, then the rest, then null", () => {
  const framer = new Framer();
  framer.push(new Float32Array(FRAME_SAMPLES + 5));
  assert.deepEqual(
    [framer.flush()?.length, framer.flush()?.length, framer.flush()],
    [FRAME_SAMPLES, 5, null],
  );
});

test("a frame is the receiver's own: it shares no memory with the block or with other frames", () => {
  const framer = new Framer();
  const block = new Float32Array(2 * FRAME_SAMPLES);
  framer.push(block);
  const first = framer.take()!;
  const second = framer.take()!;
  assert.equal(first.buffer.byteLength, 4 * FRAME_SAMPLES);
  assert.notEqual(first.buffer, second.buffer);
  first.fill(1);
  assert.ok(second.every((sample) => sample === 0) && block.every((sample) => sample === 0));
});
