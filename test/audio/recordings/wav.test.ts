import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decodeWav } from "../../../src/audio/decode-wav.ts";
import { alaw, mulaw } from "../../../src/audio/pcm-format.ts";
import { openSound } from "../../../src/audio/recordings/recording-sound.ts";
import { makeWav } from "../make-wav.ts";

const MAX_S = 10;

describe("G.711 in WAV", () => {
  // 1 kHz in either code.
  const level = Array.from({ length: 8_000 }, (_, at) => Math.round(8_000 * Math.sin((Math.PI * at) / 4)));
  for (const [name, tag] of [
    ["A-law", 6],
    ["mu-law", 7],
  ] as const) {
    test(`is decoded from ${name}`, async () => {
      const wav = makeWav({ encoding: "u8", rateHz: 8_000, channels: [level.map(tag === 6 ? alaw : mulaw)] });
      wav.writeUInt16LE(tag, 20);
      const sound = openSound(wav, MAX_S);
      const samples = await sound.read(9_000);
      assert.equal(samples.length, 8_000);
      for (const [at, sample] of samples.entries())
        assert.ok(Math.abs(sample - level[at]! / 32_768) < 0.01, `${at}: ${sample}`);
    });
  }

  test("is refused by its name in a turn", () => {
    const wav = makeWav({ encoding: "u8", rateHz: 8_000, channels: [[1, 2, 3]] });
    wav.writeUInt16LE(7, 20);
    assert.throws(() => decodeWav(wav), {
      message: /encoded as mu-law, and only PCM and float WAV can be read/,
    });
  });
});

test("WAV with unfinished sizes is read to its end", async () => {
  for (const dataSize of [
    0, 2_000_000_000, 0x7fff0000, 0x7ffff000, 0x7fffffff, 0x80000000, 0xffffff00, 0xffffffff,
  ]) {
    const wav = makeWav({ encoding: "s16", rateHz: 8_000, channels: [[100, 200, 300]], dataSize });
    assert.equal((await openSound(wav, MAX_S).read(9)).length, 3, `${dataSize}`);
  }
  const cut = makeWav({ encoding: "s16", rateHz: 8_000, channels: [[100, 200, 300]], dataSize: 0x1000000 });
  assert.throws(() => openSound(cut, MAX_S), {
    message: /it is cut off: 16777216 bytes of samples are declared/,
  });
});
