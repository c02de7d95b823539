import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openSound } from "../../../src/audio/recordings/recording-sound.ts";
import { makeWav } from "../make-wav.ts";
import { BOMBS, LONG_FILES } from "./bombs.ts";
import { OPUS_HEAD, ogg, oggPages } from "./ogg-writer.ts";
import { element, track, webm } from "./webm-writer.ts";

const MAX_S = 1_500;
const MIB = 2 ** 20;

/** Reads a file in a recogniser's windows; returns the seconds read and the peak memory in addition to the file. */
async function read(
  file: Uint8Array,
  upToS = Number.POSITIVE_INFINITY,
): Promise<{ seconds: number; maxBytes: number }> {
  const before = process.memoryUsage().external;
  let maxBytes = 0;
  let samples = 0;
  const sound = openSound(file, MAX_S);
  try {
    while (samples < upToS * sound.sampleRateHz) {
      const { length } = await sound.read(30 * sound.sampleRateHz);
      maxBytes = Math.max(maxBytes, process.memoryUsage().external - before);
      if (length === 0) break;
      samples += length;
    }
  } finally {
    await sound.close();
  }
  return { seconds: samples / sound.sampleRateHz, maxBytes };
}

describe("a decompression bomb", () => {
  test("is refused by its header for an absurd rate", async () => {
    assert.throws(() => openSound(BOMBS["FLAC of 8 channels at 1,048,575 Hz"](), MAX_S), {
      name: "AudioFormatError",
      message: /its sample rate is 1048575 Hz, and 1000 to 96000 Hz can be read: send it at another rate/,
    });
  });

  test("is refused by its header for an absurd length", () => {
    assert.throws(() => openSound(BOMBS["FLAC of 8 channels at 96 kHz"](), MAX_S), {
      name: "AudioFormatError",
      message: /more work to decode than any recording of speech: send it with one channel/,
    });
  });

  test("is refused before decoding if its end mark hides its length", () => {
    assert.throws(() => openSound(BOMBS["Ogg that ends at 0"](), MAX_S), { name: "RecordingTooLongError" });
  });

  test("is empty if all of it lies beyond its end", async () => {
    const short = Buffer.concat(
      oggPages([OPUS_HEAD, new Uint8Array(16), Uint8Array.of(0xf8)], 1, 7, () => 0),
    );
    await assert.rejects(read(short), { message: /it has no samples: send a whole/ });
  });

  test("is refused at the first empty packet", () => {
    const before = process.memoryUsage().heapUsed;
    assert.throws(() => openSound(BOMBS["WebM of empty packets"](), MAX_S), {
      message: /packet 0 of its Opus stream is damaged/,
    });
    const pages = ogg(
      [OPUS_HEAD, new Uint8Array(16), ...Array<Uint8Array>(2_000_000).fill(new Uint8Array(0))],
      255,
    );
    assert.throws(() => openSound(pages, MAX_S), { message: /packet 0 of its Opus stream is damaged/ });
    assert.ok(process.memoryUsage().heapUsed - before < 400 * MIB);
  });

  test("is refused for the work of millions of empty parts", () => {
    const audio = track(2, 2, "A_OPUS");
    const tracks = Array<Buffer>(70).fill(element([0xae], new Uint8Array(0)));
    assert.throws(() => openSound(webm([...tracks, audio], [], false), MAX_S), { message: /over 64 tracks/ });
    // Void elements of two bytes each.
    const voids = Buffer.alloc(10 * MIB, Buffer.of(0xec, 0x80));
    assert.throws(() => openSound(webm([audio], [voids], false), MAX_S), { message: /more work to decode/ });
    const chunks = Buffer.alloc(24 * MIB, Buffer.of(0x6a, 0x75, 0x6e, 0x6b, 0, 0, 0, 0));
    const head = makeWav({ encoding: "s16", rateHz: 8_000, channels: [[1]] });
    const wav = Buffer.concat([
      head.subarray(0, 12),
      chunks,
      chunks.subarray(0, 16 * MIB),
      head.subarray(12),
    ]);
    assert.throws(() => openSound(wav, MAX_S), { message: /more work to decode/ });
  });
});

describe("a long recording", () => {
  for (const [name, make] of Object.entries(LONG_FILES)) {
    test(`(${name}) is read in bounded memory`, async () => {
      const { seconds, maxBytes } = await read(make(), 240);
      assert.ok(seconds >= 240, `${seconds} s`);
      // Most of it is garbage: 25 minutes would take 96 MB.
      assert.ok(maxBytes < 80 * MIB, `${maxBytes} bytes`);
    });
  }

  test("is read to its end, with its exact length", async () => {
    const { seconds } = await read(LONG_FILES["FLAC of one value"]());
    assert.ok(Math.abs(seconds - MAX_S) < 0.1, `${seconds} s`);
  });
});
