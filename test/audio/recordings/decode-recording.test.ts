import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { encodeWav } from "../../../src/audio/encode-wav.ts";
import { RecordingTooLongError } from "../../../src/audio/recordings/recording.ts";
import { decoded } from "./decoded.ts";
import { amplitude, goldenRecording } from "./golden-recordings.ts";

const MAX_S = 1_500;

describe("a recording", () => {
  for (const [name, rateHz, channels] of [
    ["mono-44100.mp3", 16_000, 1],
    ["stereo-22050.mp3", 22_050, 2],
    ["mono.ogg", 16_000, 1],
    ["stereo.ogg", 16_000, 2],
    ["mono.webm", 16_000, 1],
    ["mono-16000.flac", 16_000, 1],
    ["stereo-44100.flac", 16_000, 2],
    ["stereo-8000-24.flac", 8_000, 2],
  ] as const) {
    test(`is decoded from ${name}, with its length and level`, async () => {
      const { samples, sampleRateHz, durationS } = await decoded(goldenRecording(name), MAX_S);
      assert.equal(sampleRateHz, rateHz);
      assert.ok(Math.abs(durationS - 1.25) < 0.06, `${durationS} s`);
      assert.ok(Math.abs(samples.length - durationS * rateHz) <= 1, `${samples.length}`);
      const [low, high] = channels === 1 ? [0.5, 0] : [0.25, 0.125];
      // LAME attenuates slightly.
      assert.ok(Math.abs(amplitude(samples, rateHz, 440) - low) < 0.03, "440 Hz");
      assert.ok(Math.abs(amplitude(samples, rateHz, 1_000) - high) < 0.02, "1000 Hz");
    });
  }

  test("of FLAC is lossless", async () => {
    const { samples } = await decoded(goldenRecording("mono-16000.flac"), MAX_S);
    assert.equal(samples.length, 20_000);
    for (const [at, sample] of samples.entries()) {
      const expected = 0.5 * Math.sin((2 * Math.PI * 440 * at) / 16_000);
      assert.ok(Math.abs(sample - expected) < 1e-4, `sample ${at}`);
    }
  });

  test("of MP4 or AAC is refused by name, with the alternatives", async () => {
    for (const [name, what] of [
      ["mono.m4a", "MP4 or M4A"],
      ["mono.aac", "AAC"],
    ] as const) {
      await assert.rejects(decoded(goldenRecording(name), MAX_S), {
        name: "AudioFormatError",
        message: `undecodable audio: it is ${what}, which cannot be read: send WAV, MP3, FLAC, or Opus in Ogg or WebM`,
      });
    }
  });

  test("of another type, or empty, is refused", async () => {
    const refused: [Uint8Array, RegExp][] = [
      [new Uint8Array(0), /it is empty: send a whole and undamaged file of WAV/],
      [new Uint8Array(1), /not a recording that can be read: send WAV/],
      [Buffer.from("Hello there, this is no recording."), /not a recording that can be read/],
      [Buffer.from("ID3"), /not a recording/],
    ];
    for (const [bytes, message] of refused) await assert.rejects(decoded(bytes, MAX_S), { message });
  });

  test("over the limit is refused, and decoding stops", async () => {
    for (const name of ["mono-44100.mp3", "mono.ogg", "mono.webm", "stereo-44100.flac"])
      await assert.rejects(decoded(goldenRecording(name), 1), RecordingTooLongError);
    await assert.rejects(decoded(encodeWav(new Int16Array(9_000), 8_000), 1), RecordingTooLongError);
  });
});
