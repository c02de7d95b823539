import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeWav } from "../../src/audio/decode-wav.ts";
import fc from "../properties.ts";
import { type Chunk, ENCODINGS, type Encoding, LAYOUT, makeWav, type WavRecipe } from "./make-wav.ts";

const chunk: fc.Arbitrary<Chunk> = fc.record({
  id: fc.constantFrom("LIST", "fact", "id3 ", "JUNK", "cue ", "bext"),
  body: fc.uint8Array({ maxLength: 9 }),
});

function sample(encoding: Encoding): fc.Arbitrary<number> {
  const { scale } = LAYOUT[encoding];
  if (encoding === "u8") return fc.integer({ min: 0, max: 255 });
  if (encoding === "f32") return fc.float({ min: -1, max: 1, noNaN: true });
  if (encoding === "f64") return fc.double({ min: -1, max: 1, noNaN: true });
  return fc.integer({ min: -scale, max: scale - 1 });
}

const recipe: fc.Arbitrary<WavRecipe> = fc
  .record({
    encoding: fc.constantFrom(...ENCODINGS),
    channelCount: fc.integer({ min: 1, max: 9 }),
    frames: fc.integer({ min: 1, max: 20 }),
  })
  .chain(({ encoding, channelCount, frames }) =>
    fc.record({
      encoding: fc.constant(encoding),
      rateHz: fc.integer({ min: 1_000, max: 768_000 }),
      channels: fc.array(fc.array(sample(encoding), { minLength: frames, maxLength: frames }), {
        minLength: channelCount,
        maxLength: channelCount,
      }),
      extensible: fc.boolean(),
      before: fc.array(chunk, { maxLength: 3 }),
      after: fc.array(chunk, { maxLength: 3 }),
    }),
  );

function expectedMono({ encoding, channels }: WavRecipe): number[] {
  const { scale } = LAYOUT[encoding];
  const zero = encoding === "u8" ? 0x80 : 0;
  return channels[0]!.map((_, frame) => {
    const sum = channels.reduce((total, channel) => total + (channel[frame]! - zero) / scale, 0);
    return Math.fround(sum / channels.length);
  });
}

test("reads every format, channel count and rate, among other chunks", () => {
  fc.assert(
    fc.property(recipe, (wav) => {
      const clip = decodeWav(makeWav(wav));
      assert.deepEqual([...clip.samples], expectedMono(wav));
      assert.equal(clip.sampleRateHz, wav.rateHz);
      assert.equal(clip.channels, wav.channels.length);
      assert.equal(clip.frames, wav.channels[0]!.length);
      assert.equal(clip.durationS, clip.frames / wav.rateHz);
    }),
    { numRuns: 500 },
  );
});

test("reads a file anywhere in a larger buffer", () => {
  const file = makeWav({ encoding: "s16", rateHz: 24_000, channels: [[1, -2, 3]] });
  const around = Buffer.concat([Buffer.alloc(3, 0xff), file, Buffer.alloc(5, 0xff)]);
  assert.deepEqual(decodeWav(around.subarray(3, 3 + file.length)), decodeWav(file));
});

test("reads to the end if a streaming writer left 0 or 0xFFFFFFFF as sizes", () => {
  for (const size of [0, 0xffffffff]) {
    for (const riffSize of [size, undefined, 36]) {
      const told = { encoding: "s16", rateHz: 8_000, channels: [[100, -200, 300]] } as const;
      const file = makeWav({ ...told, dataSize: size, ...(riffSize === undefined ? {} : { riffSize }) });
      assert.deepEqual(decodeWav(file), decodeWav(makeWav(told)), `data ${size}, RIFF ${riffSize}`);
    }
  }
});

test("drops an incomplete last frame", () => {
  const stereo = makeWav({
    encoding: "s16",
    rateHz: 8_000,
    channels: [
      [1, 2, 3],
      [4, 5, 6],
    ],
    dataSize: 0xffffffff,
  });
  for (const lost of [1, 2, 3]) assert.equal(decodeWav(stereo.subarray(0, stereo.length - lost)).frames, 2);
});

test("reads an empty data chunk with chunks after it", () => {
  const list = { id: "LIST", body: Buffer.from("INFOISFT\x04\0\0\0test") };
  const file = makeWav({ encoding: "s16", rateHz: 8_000, channels: [[]], after: [list] });
  assert.throws(() => decodeWav(file), /undecodable audio: it has no samples/);
});

test("clips floats after mixing", () => {
  const file = makeWav({
    encoding: "f32",
    rateHz: 8_000,
    channels: [
      [3, -7, 1.5],
      [0, 0, -1.5],
    ],
  });
  assert.deepEqual([...decodeWav(file).samples], [1, -1, 0]);
});

test("ignores the RIFF size and the nominal byte rate", () => {
  const file = makeWav({ encoding: "s16", rateHz: 8_000, channels: [[5, 6]], riffSize: 0x7fffffff });
  file.writeUInt32LE(0, 28);
  assert.equal(decodeWav(file).frames, 2);
});
