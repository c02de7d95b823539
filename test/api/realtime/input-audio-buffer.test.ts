import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { InputAudioDecoder, SampleBuffer } from "../../../src/api/realtime/input-audio-buffer.ts";
import type { RealtimeFormat } from "../../../src/contract/realtime/session.ts";
import fc from "../../properties.ts";

const FORMATS: readonly RealtimeFormat[] = [
  { type: "audio/pcm", rate: 24_000 },
  { type: "audio/pcmu" },
  { type: "audio/pcma" },
];

describe("InputAudioDecoder", () => {
  it("returns the same samples however the bytes are cut", () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 4_000 });
    const cuts = fc.array(fc.oneof(fc.nat(3), fc.nat(700)), { maxLength: 40 });
    fc.assert(
      fc.property(fc.constantFrom(...FORMATS), bytes, cuts, (format, all, lengths) => {
        const whole = new InputAudioDecoder(format).push(all);
        const input = new InputAudioDecoder(format);
        const pieces: number[] = [];
        let at = 0;
        for (const length of lengths) {
          pieces.push(...input.push(all.subarray(at, at + length)));
          at += length;
        }
        pieces.push(...input.push(all.subarray(at)));
        assert.deepEqual(pieces, [...whole]);
      }),
    );
  });

  it("keeps the level", () => {
    const loud = Buffer.alloc(9_600);
    for (let at = 0; at < loud.length; at += 2) loud.writeInt16LE(at % 4 === 0 ? 12_000 : 11_000, at);
    const samples = new InputAudioDecoder(FORMATS[0]!).push(loud).subarray(500, 2_500);
    assert.ok(samples.every((sample) => Math.abs(sample - 11_500 / 32_768) < 0.02));
  });
});

describe("SampleBuffer", () => {
  it("reads like a list of all samples and holds at most its bound and a block", () => {
    const move = fc.oneof(
      { weight: 4, arbitrary: fc.oneof(fc.nat(5), fc.nat(20_000)).map((push) => ({ push })) },
      { weight: 1, arbitrary: fc.nat(60_000).map((forget) => ({ forget })) },
      { weight: 2, arbitrary: fc.tuple(fc.nat(80_000), fc.nat(80_000)).map((read) => ({ read })) },
    );
    fc.assert(
      fc.property(fc.array(move, { maxLength: 30 }), (moves) => {
        const max = 24_000;
        const buffer = new SampleBuffer(max);
        let count = 0;
        let forgotten = 0;
        for (const each of moves) {
          if ("push" in each) {
            buffer.push(Float32Array.from({ length: each.push }, (_, at) => count + at));
            count += each.push;
            forgotten = Math.max(forgotten, count - max);
          } else if ("forget" in each) {
            buffer.forget(each.forget);
            forgotten = Math.max(forgotten, Math.min(each.forget, count));
          } else {
            const [from, to] = each.read.toSorted((a, b) => a - b) as [number, number];
            const read = buffer.read(from, to);
            assert.ok(read.every((sample, at) => sample === read[0]! + at));
            const least = Math.max(0, Math.min(to, count) - Math.max(from, forgotten));
            assert.ok(read.length >= least);
            if (read.length > 0) assert.equal(read.at(-1), Math.min(to, count) - 1);
          }
          assert.equal(buffer.appended, count);
          assert.ok(buffer.held <= max + 2 * 8_192);
        }
      }),
    );
  });

  it("needs no more memory for many small chunks", () => {
    const buffer = new SampleBuffer(16_000);
    for (let at = 0; at < 100_000; at += 1) buffer.push(Float32Array.of(at));
    assert.ok(buffer.held <= 16_000 + 2 * 8_192);
    assert.equal(buffer.read(99_999, 100_000)[0], 99_999);
  });
});
