import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeWav } from "../../src/audio/decode-wav.ts";
import { encodeWav } from "../../src/audio/encode-wav.ts";
import { samplesIn, wholeSamples } from "../../src/audio/format.ts";
import { fromPcm16, pcm16Bytes, toPcm16 } from "../../src/audio/pcm.ts";
import { alaw, expandAlaw, expandMulaw, mulaw } from "../../src/audio/pcm-format.ts";
import fc from "../properties.ts";

const pcm = fc.int16Array({ maxLength: 400 });

test("samples become 16-bit PCM, rounded, clipped and without NaN", () => {
  const samples = Float32Array.of(
    0,
    1,
    -1,
    0.5,
    -0.5,
    2,
    -2,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1.4 / 32_767,
  );
  assert.deepEqual(
    [...toPcm16(samples)],
    [0, 32_767, -32_767, 16_384, -16_383, 32_767, -32_767, 0, 32_767, 1],
  );
});

test("PCM survives a round trip, except values below -32767", () => {
  fc.assert(
    fc.property(pcm, (values) => {
      assert.deepEqual(
        toPcm16(fromPcm16(values)),
        values.map((value) => Math.max(-32_767, value)),
      );
      assert.ok(fromPcm16(values).every((sample) => sample >= -1 && sample <= 1));
    }),
  );
});

test("PCM bytes are little-endian and cover just the array", () => {
  const values = Int16Array.of(9, 0x0102, -2, 9).subarray(1, 3);
  assert.deepEqual([...pcm16Bytes(values)], [0x02, 0x01, 0xfe, 0xff]);
});

test("a WAV file is its 44-byte header and the streamed bytes", () => {
  fc.assert(
    fc.property(
      fc.array(pcm, { maxLength: 5 }),
      fc.integer({ min: 1_000, max: 768_000 }),
      (pieces, rateHz) => {
        const file = encodeWav(pieces, rateHz);
        const streamed = Buffer.concat(pieces.map(pcm16Bytes));
        assert.deepEqual(Buffer.from(file.subarray(44)), streamed);
        const header = Buffer.from(file.subarray(0, 44));
        assert.equal(header.toString("latin1", 0, 4) + header.toString("latin1", 8, 16), "RIFFWAVEfmt ");
        assert.equal(header.toString("latin1", 36, 40), "data");
        assert.equal(header.readUInt32LE(4), file.length - 8);
        assert.deepEqual(
          [
            header.readUInt32LE(16),
            header.readUInt16LE(20),
            header.readUInt16LE(22),
            header.readUInt32LE(24),
          ],
          [16, 1, 1, rateHz],
        );
        assert.deepEqual(
          [header.readUInt32LE(28), header.readUInt16LE(32), header.readUInt16LE(34)],
          [2 * rateHz, 2, 16],
        );
        assert.equal(header.readUInt32LE(40), streamed.length);
      },
    ),
  );
});

test("a WAV file in one piece equals one in chunks", () => {
  fc.assert(
    fc.property(fc.int16Array({ minLength: 1, maxLength: 200 }), fc.nat({ max: 200 }), (values, cut) => {
      const file = encodeWav(values, 24_000);
      assert.deepEqual(encodeWav([values.subarray(0, cut), values.subarray(cut)], 24_000), file);
      const clip = decodeWav(file);
      assert.deepEqual(
        [...clip.samples],
        [...values].map((value) => value / 0x8000),
      );
      assert.equal(clip.sampleRateHz, 24_000);
    }),
  );
});

for (const [name, compress, expand] of [
  ["µ-law", mulaw, expandMulaw],
  ["A-law", alaw, expandAlaw],
] as const) {
  test(`every code of ${name} survives a round trip`, () => {
    for (let code = 0; code < 256; code += 1) {
      const again = compress(expand(code));
      // µ-law has two codes for silence.
      if (expand(code) !== 0) assert.equal(again, code, `${code}: ${expand(code)}`);
    }
  });

  test(`${name} is exact to a sixteenth of the level`, () => {
    for (let sample = -32_000; sample <= 32_000; sample += 37) {
      const error = Math.abs(expand(compress(sample)) - sample);
      assert.ok(error <= Math.max(9, Math.abs(sample) / 16), `${sample}: ${error}`);
    }
  });
}

test("G.711 codes match its tables", () => {
  assert.deepEqual([0x00, 0x80, 0x7f, 0xff].map(expandMulaw), [-32_124, 32_124, -0, 0]);
  assert.deepEqual([0xd5, 0x55, 0xaa, 0x2a].map(expandAlaw), [8, -8, 32_256, -32_256]);
});

test("seconds and factors give whole numbers of samples, NaN none", () => {
  assert.equal(samplesIn(0.4), 9_600);
  assert.equal(samplesIn(0.4 * 0.75 * 1.0371), 7_467);
  assert.equal(wholeSamples(-450.5), -450);
  for (const odd of [Number.NaN, Number.POSITIVE_INFINITY])
    assert.throws(() => wholeSamples(odd), /no number of samples/);
});
