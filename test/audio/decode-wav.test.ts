import assert from "node:assert/strict";
import { test } from "node:test";
import { AudioFormatError } from "../../src/audio/audio-format-error.ts";
import { decodeWav } from "../../src/audio/decode-wav.ts";
import fc from "../properties.ts";
import {
  type Chunk,
  ENCODINGS,
  type Encoding,
  LAYOUT,
  makeChunk,
  makeWav,
  type WavRecipe,
} from "./make-wav.ts";

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

test("reads to the end if a streaming writer left a placeholder as sizes", () => {
  for (const size of [0, 2_000_000_000, 0x7ffff000, 0x7fffffff, 0x80000000, 0xffffffff]) {
    for (const riffSize of [size, undefined, 36]) {
      const sized = { encoding: "s16", rateHz: 8_000, channels: [[100, -200, 300]] } as const;
      const file = makeWav({ ...sized, dataSize: size, ...(riffSize === undefined ? {} : { riffSize }) });
      assert.deepEqual(decodeWav(file), decodeWav(makeWav(sized)), `data ${size}, RIFF ${riffSize}`);
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

const TAG = 20;
const CHANNELS = 22;
const RATE = 24;
const BLOCK = 32;
const BITS = 34;
const DATA_SIZE = 40;

const mono = () => makeWav({ encoding: "s16", rateHz: 24_000, channels: [[1, 2, 3, 4]] });

function altered(change: (file: Buffer) => unknown): Buffer {
  const file = mono();
  change(file);
  return file;
}

const REFUSED: readonly (readonly [Uint8Array, RegExp])[] = [
  [new Uint8Array(), /it is empty/],
  [Buffer.from("RIFF"), /4 bytes are too few/],
  [Buffer.from("ID3\x04 this is an MP3 file"), /does not begin as a WAV file/],
  [altered((file) => file.write("RIFX")), /RIFX/],
  [altered((file) => file.write("RF64")), /RF64/],
  [altered((file) => file.write("AVI ", 8)), /does not begin as a WAV file/],
  [mono().subarray(0, 12), /no "fmt " chunk/],
  [mono().subarray(0, 30), /cut off in its "fmt " chunk at byte 12/],
  [mono().subarray(0, 36), /no "data" chunk/],
  [mono().subarray(0, 44), /8 bytes of samples are declared and 0 are there/],
  [mono().subarray(0, 51), /8 bytes of samples are declared and 7 are there/],
  [altered((file) => file.writeUInt32LE(0x10000000, DATA_SIZE)), /268435456 bytes of samples are declared/],
  [altered((file) => file.writeUInt32LE(0x3fffffff, DATA_SIZE)), /1073741823 bytes of samples are declared/],
  [altered((file) => file.writeUInt32LE(0, DATA_SIZE)).subarray(0, 44), /no samples/],
  [altered((file) => file.writeUInt32LE(1, DATA_SIZE)), /no samples/],
  [altered((file) => file.writeUInt16LE(0, CHANNELS)), /no channels/],
  [altered((file) => file.writeUInt32LE(0, RATE)), /sample rate is 0 Hz/],
  [altered((file) => file.writeUInt32LE(999, RATE)), /sample rate is 999 Hz/],
  [altered((file) => file.writeUInt32LE(0xffffffff, RATE)), /sample rate is 4294967295 Hz/],
  [altered((file) => file.writeUInt16LE(4, BLOCK)), /4 bytes a frame for 1 channels of 16 bits/],
  [altered((file) => file.writeUInt16LE(0, BLOCK)), /0 bytes a frame/],
  [altered((file) => file.writeUInt16LE(0xffff, CHANNELS)), /2 bytes a frame for 65535 channels/],
  [altered((file) => file.writeUInt16LE(12, BITS)), /12-bit PCM/],
  [altered((file) => file.writeUInt16LE(0, BITS)), /0-bit PCM/],
  [altered((file) => file.writeUInt16LE(3, TAG)), /16-bit float/],
  [altered((file) => file.writeUInt16LE(2, TAG)), /ADPCM/],
  [altered((file) => file.writeUInt16LE(6, TAG)), /A-law/],
  [altered((file) => file.writeUInt16LE(7, TAG)), /mu-law/],
  [altered((file) => file.writeUInt16LE(0x55, TAG)), /MP3/],
  [altered((file) => file.writeUInt16LE(0x1234, TAG)), /format 0x1234/],
  [altered((file) => file.writeUInt16LE(0xfffe, TAG)), /extensible "fmt " chunk has 16 bytes where 40/],
  [
    Buffer.concat([mono().subarray(0, 12), mono().subarray(36), mono().subarray(12, 36)]),
    /"data" chunk comes before any "fmt " chunk/,
  ],
  [
    Buffer.concat([
      mono().subarray(0, 12),
      makeChunk({ id: "fmt ", body: Buffer.alloc(14) }),
      mono().subarray(36),
    ]),
    /"fmt " chunk has 14 bytes/,
  ],
  [
    makeWav({ encoding: "f32", rateHz: 8_000, channels: [[0, 0.5, Number.NaN]] }),
    /sample 2 is not a finite number/,
  ],
  [
    makeWav({ encoding: "f64", rateHz: 8_000, channels: [[0], [Number.NEGATIVE_INFINITY]] }),
    /sample 0 is not a finite number/,
  ],
];

test("refuses broken or unsupported files with a reason", () => {
  for (const [file, reason] of REFUSED) {
    assert.throws(
      () => decodeWav(file),
      (error: unknown) => {
        assert.ok(error instanceof AudioFormatError);
        assert.match(error.message, /^undecodable audio: /);
        assert.match(error.message, reason);
        return true;
      },
    );
  }
});

test("refuses unknown sub-formats of an extensible file", () => {
  const file = makeWav({ encoding: "s16", rateHz: 8_000, channels: [[1]], extensible: true });
  file[12 + 8 + 39] = 0x72;
  assert.throws(() => decodeWav(file), /neither PCM nor float/);
  const aLaw = makeWav({ encoding: "s16", rateHz: 8_000, channels: [[1]], extensible: true });
  aLaw.writeUInt16LE(6, 12 + 8 + 24);
  assert.throws(() => decodeWav(aLaw), /A-law/);
});

/** Checks that a file is decoded within its size or refused with `AudioFormatError`. */
function mustDecodeOrRefuse(file: Uint8Array): "decoded" | "refused" {
  try {
    const clip = decodeWav(file);
    assert.ok(clip.frames >= 1 && clip.samples.length === clip.frames && clip.frames <= file.length);
    assert.ok(clip.samples.every((sample) => sample >= -1 && sample <= 1));
    return "decoded";
  } catch (error) {
    if (!(error instanceof AudioFormatError)) throw error;
    return "refused";
  }
}

test("throws only its own error on random bytes", () => {
  const beginning = fc.constantFrom(0, 12, 20, 36, 40, 44);
  fc.assert(
    fc.property(beginning, fc.uint8Array({ maxLength: 200 }), (kept, noise) => {
      mustDecodeOrRefuse(Buffer.concat([mono().subarray(0, kept), noise]));
    }),
    { numRuns: 3_000 },
  );
});

test("throws only its own error if any byte of a file changes", () => {
  for (const extensible of [false, true]) {
    const outcomes = new Set<string>();
    const file = makeWav({
      encoding: "s16",
      rateHz: 24_000,
      channels: [
        [1, 2, 3],
        [4, 5, 6],
      ],
      extensible,
      before: [{ id: "LIST", body: Buffer.from("odd") }],
      after: [{ id: "id3 ", body: Buffer.from("x") }],
    });
    for (let at = 0; at < file.length; at += 1) {
      for (let value = 0; value < 256; value += 1) {
        const mutant = Buffer.from(file);
        mutant[at] = value;
        outcomes.add(mustDecodeOrRefuse(mutant));
      }
    }
    assert.deepEqual([...outcomes].sort(), ["decoded", "refused"]);
  }
});

test("refuses every truncation of a file with sizes, and reads the rest", () => {
  for (const encoding of ENCODINGS) {
    const sized = makeWav({
      encoding,
      rateHz: 24_000,
      channels: [
        [1, 0, 1],
        [0, 1, 0],
      ],
    });
    const streamed = makeWav({
      encoding,
      rateHz: 24_000,
      channels: [
        [1, 0, 1],
        [0, 1, 0],
      ],
      dataSize: 0xffffffff,
    });
    const frame = (sized.length - 44) / 3;
    for (let length = 0; length < 44 + 3 * frame; length += 1) {
      assert.equal(mustDecodeOrRefuse(sized.subarray(0, length)), "refused", `${encoding}, ${length} bytes`);
      const expected = length >= 44 + frame ? "decoded" : "refused";
      assert.equal(
        mustDecodeOrRefuse(streamed.subarray(0, length)),
        expected,
        `${encoding}, ${length} bytes streamed`,
      );
    }
    assert.equal(mustDecodeOrRefuse(sized.subarray(0, 44 + 3 * frame)), "decoded");
  }
});

test("throws only its own error on several mutations", () => {
  const mutation = fc.tuple(fc.nat({ max: 63 }), fc.nat({ max: 255 }));
  fc.assert(
    fc.property(
      fc.constantFrom(...ENCODINGS),
      fc.array(mutation, { maxLength: 6 }),
      (encoding, mutations) => {
        const file = makeWav({ encoding, rateHz: 48_000, channels: [[1, 0, 1]] });
        for (const [at, value] of mutations) file[at % file.length] = value;
        mustDecodeOrRefuse(file);
      },
    ),
    { numRuns: 3_000 },
  );
});

test("allocates by the file's content, not by its header", () => {
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < 200; i += 1) {
    const file = altered((bytes) => bytes.writeUInt32LE(i % 2 === 0 ? 0xffffffff : 0xfffffff0, DATA_SIZE));
    file.writeUInt32LE(0xffffffff, 4);
    mustDecodeOrRefuse(file);
  }
  assert.ok(process.memoryUsage().arrayBuffers - before < 16 * 1024 * 1024);
});

test("reads each of a million tiny chunks once", () => {
  const junk = Buffer.alloc(8_000_000);
  for (let at = 0; at < junk.length; at += 8) junk.write("JUNK", at);
  const file = Buffer.concat([mono().subarray(0, 12), junk, mono().subarray(12)]);
  assert.equal(decodeWav(file).frames, 4);
});
