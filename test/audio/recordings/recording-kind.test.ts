import assert from "node:assert/strict";
import { test } from "node:test";
import { recordingKind } from "../../../src/audio/recordings/recording-kind.ts";
import { openSound } from "../../../src/audio/recordings/recording-sound.ts";
import { randomOf } from "../../fuzz/fuzzer.ts";
import { decoded } from "./decoded.ts";
import { goldenRecording } from "./golden-recordings.ts";

const mp3 = Buffer.from(goldenRecording("mono-44100.mp3"));
const flac = Buffer.from(goldenRecording("mono-16000.flac"));

function id3v2(bytes: number, fill = 0): Buffer {
  const size = [21, 14, 7, 0].map((shift) => (bytes >> shift) & 0x7f);
  return Buffer.concat([Buffer.from("ID3"), Buffer.of(4, 0, 0, ...size), Buffer.alloc(bytes, fill)]);
}

function ape(bytes: number, isInFront: boolean): Buffer {
  const end = Buffer.alloc(32);
  end.write("APETAGEX");
  end.writeUInt32LE(2_000, 8);
  end.writeUInt32LE(bytes + (isInFront ? 0 : 32), 12);
  // Looks like MP3 frames.
  const items = Buffer.alloc(bytes, Buffer.of(0xff, 0xfb, 0x90, 0x00));
  return Buffer.concat(isInFront ? [end, items] : [items, end]);
}

const id3v1 = Buffer.concat([Buffer.from("TAG"), Buffer.alloc(125, "a")]);

test("MP3 is found after tags, padding and a partial frame", async () => {
  const { samples } = await decoded(mp3, 10);
  for (const [name, file] of Object.entries({
    "a tag": Buffer.concat([id3v2(500), mp3]),
    "two tags": Buffer.concat([id3v2(9_000, 0xff), id3v2(20), mp3]),
    "padding of 8 KiB": Buffer.concat([id3v2(20), Buffer.alloc(8_192), mp3]),
    zeros: Buffer.concat([Buffer.alloc(700), mp3]),
    "an APE tag in front": Buffer.concat([ape(4_000, true), mp3]),
    "tags at its end": Buffer.concat([mp3, ape(100_000, false), id3v1]),
  }))
    assert.deepEqual((await decoded(file, 10)).samples, samples, name);
});

test("FLAC is read without a trailing tag, even of unknown length", async () => {
  const streamed = Buffer.from(flac);
  // The header's number of samples.
  streamed[21]! &= 0xf0;
  streamed.fill(0, 22, 26);
  const { samples } = await decoded(flac, 10);
  assert.deepEqual((await decoded(Buffer.concat([streamed, id3v1]), 10)).samples, samples);
});

test("does not take samples for MP3, and names AU and W64 when it refuses them", () => {
  const random = randomOf(7);
  const samples = Buffer.alloc(200_000);
  // Quiet samples have many bytes of eleven ones.
  for (let at = 0; at < samples.length; at += 2)
    samples.writeInt16BE(Math.floor(2_000 * (random() - 0.5)), at);
  assert.equal(recordingKind(Buffer.concat([Buffer.alloc(2), samples])), null);
  assert.deepEqual(recordingKind(Buffer.concat([Buffer.from(".snd"), samples])), { refused: "AU" });
  const w64 = Buffer.from("726966662e91cf11a5d628db04c10000", "hex");
  assert.deepEqual(recordingKind(Buffer.concat([w64, samples])), { refused: "W64" });
  assert.throws(() => openSound(w64, 10), {
    message: /it is W64, which cannot be read: send WAV, MP3, FLAC/,
  });
});

test("other data with sync bits is not taken for MP3", () => {
  for (const bytes of [
    Buffer.alloc(70_000, 0xff),
    Buffer.concat([Buffer.alloc(99), Buffer.of(0xff, 0xfb, 0x90, 0), Buffer.alloc(5_000)]),
    Buffer.alloc(0),
    Buffer.from("ID3"),
    Buffer.concat([Buffer.from("APETAGEX"), Buffer.alloc(24, 0xff)]),
  ])
    assert.equal(recordingKind(bytes), null);
});
