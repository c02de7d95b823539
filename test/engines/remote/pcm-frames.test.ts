import assert from "node:assert/strict";
import { it } from "node:test";
import { decodeWav } from "../../../src/audio/decode-wav.ts";
import { encodeWav, wavHeader } from "../../../src/audio/encode-wav.ts";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../../src/audio/format.ts";
import { fromPcm16, toPcm16 } from "../../../src/audio/pcm.ts";
import type { Frame, SpokenWord } from "../../../src/core/speech-model.ts";
import { readAntiphonStream } from "../../../src/engines/remote/antiphon-dialect.ts";
import { encodeBase64Wav } from "../../../src/engines/remote/dialect.ts";
import type { HttpExchange } from "../../../src/engines/remote/http-exchange.ts";
import { readWavHead } from "../../../src/engines/remote/openai-dialect.ts";
import { PcmDecoder, PcmFrames } from "../../../src/engines/remote/pcm-frames.ts";
import { never } from "../../core/scripts.ts";
import fc from "../../properties.ts";

const lengths = fc.array(fc.nat(5_000), { maxLength: 30 });

/** Splits at these lengths, with the rest. */
function cut<T extends Uint8Array | Float32Array>(all: T, pieces: readonly number[]): T[] {
  const found: T[] = [];
  let at = 0;
  for (const length of pieces) {
    found.push(all.subarray(at, at + length) as T);
    at = Math.min(all.length, at + length);
  }
  return [...found, all.subarray(at) as T];
}

it("PcmFrames makes full frames and a shorter last one of any chunks", () => {
  fc.assert(
    fc.property(lengths, fc.nat(20_000), (pieces, count) => {
      const samples = Float32Array.from({ length: count }, (_, at) => Math.sin(at));
      const frames = new PcmFrames(512);
      const given: Frame[] = [];
      for (const piece of cut(samples, pieces)) given.push(...frames.push({ samples: piece }));
      assert.ok(given.every((frame) => frame.samples.length === FRAME_SAMPLES));
      assert.equal(frames.pendingSamples, count % FRAME_SAMPLES);
      const last = frames.flush();
      if (last !== null) given.push(last);
      assert.equal(frames.frameCount, given.length);
      assert.deepEqual(Float32Array.from(given.flatMap((frame) => [...frame.samples])), samples);
      assert.ok(given.every((frame) => frame.words === undefined));
    }),
  );
});

it("PcmDecoder decodes any chunks, mono or stereo", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 3_000 }),
      lengths,
      fc.constantFrom(1, 2),
      (bytes, pieces, channels) => {
        const reader = new PcmDecoder(channels as 1 | 2);
        const parts = cut(
          bytes,
          pieces.map((length) => length % 40),
        ).map((piece) => reader.push(piece));
        const got = Float32Array.from(parts.flatMap((part) => [...part]));
        const whole = new Int16Array(bytes.slice(0, bytes.length - (bytes.length % (2 * channels))).buffer);
        const own = fromPcm16(whole);
        const expected =
          channels === 1
            ? own
            : own.filter((_, at) => at % 2 === 0).map((x, at) => (x + own[2 * at + 1]!) / 2);
        assert.deepEqual(got, expected);
        if (channels === 1)
          assert.deepEqual(
            toPcm16(got),
            whole.map((value) => Math.max(-32_767, value)),
          );
      },
    ),
  );
});

it("readWavHead waits for a whole head", () => {
  for (const head of [
    wavHeader(1_000, 16_000),
    wavHeader(0xffff_ffff, 44_100, { bytesPerSample: 2, channels: 2 }),
  ]) {
    for (let length = 0; length < head.length; length += 1)
      assert.equal(readWavHead(head.subarray(0, length)), null);
    assert.equal(readWavHead(head)?.bytes, 44);
    assert.deepEqual(readWavHead(Buffer.concat([head, Buffer.alloc(9)])), readWavHead(head));
  }
  assert.deepEqual(readWavHead(wavHeader(1_000, 16_000)), {
    sampleRateHz: 16_000,
    channels: 1,
    bytes: 44,
    dataBytes: 1_000,
  });
});

it("readWavHead reads placeholder sizes as unknown", () => {
  for (const size of [0, 0x7fff_ffff, 0xffff_ffff, 0xffff_ffff - 36]) {
    const head = Buffer.from(wavHeader(0, 24_000));
    head.writeUInt32LE(size, 40);
    assert.equal(readWavHead(head)?.dataBytes, null, `${size}`);
  }
});

it("readWavHead reads an extensible format", () => {
  const format = Buffer.alloc(40);
  wavHeader(0, 22_050)
    .subarray(20, 36)
    .forEach((byte, at) => void format.writeUInt8(byte, at));
  format.writeUInt16LE(0xfffe, 0);
  format.writeUInt16LE(22, 16);
  Buffer.from("0100000000001000800000aa00389b71", "hex").copy(format, 24);
  const head = Buffer.concat([
    Buffer.from("RIFF\xff\xff\xff\xffWAVEfmt \x28\0\0\0", "latin1"),
    format,
    Buffer.from("data\xff\xff\xff\xff", "latin1"),
  ]);
  assert.deepEqual(readWavHead(head), { sampleRateHz: 22_050, channels: 1, bytes: 68, dataBytes: null });
});

it("readWavHead rejects other bytes and an endless head", () => {
  const endless = Buffer.concat([
    Buffer.from("RIFF\0\0\0\0WAVELIST\xff\xff\0\0", "latin1"),
    Buffer.alloc(70_000),
  ]);
  const rejected: readonly [Buffer, RegExp][] = [
    [Buffer.from("ID3\x04\0\0\0\0\0\0\0\0"), /does not begin as a WAV/],
    [Buffer.from("RIFF\0\0\0\0AVI LIST"), /does not begin as a WAV/],
    [Buffer.from("RIFF\0\0\0\0WAVEdata\0\0\0\0"), /"data" chunk comes before any "fmt "/],
    [Buffer.from("RIFF\0\0\0\0WAVEfmt \xff\xff\0\0", "latin1"), /no samples in its first 64 KiB/],
    [endless, /no samples in its first 64 KiB/],
  ];
  for (const [bytes, message] of rejected) assert.throws(() => readWavHead(bytes), message);
});

it("readWavHead reads, awaits or rejects any bytes", () => {
  const begun = fc.constantFrom("", "RIFF", "RIFF\0\0\0\0WAVE", "RIFF\0\0\0\0WAVEfmt \x10\0\0\0");
  fc.assert(
    fc.property(begun, fc.uint8Array({ maxLength: 200 }), (start, rest) => {
      try {
        readWavHead(Buffer.concat([Buffer.from(start, "latin1"), rest]));
      } catch (error) {
        assert.match((error as Error).message, /^undecodable audio: /);
      }
    }),
  );
});

it("PcmFrames attaches words to the frame of their start, within the limit", () => {
  const word = (text: string, startS: number, endS: number, offset: number): SpokenWord => {
    return { word: text, startS, endS, offset, length: text.length };
  };
  const seconds = (s: number) => new Float32Array(Math.round(s * SAMPLE_RATE_HZ));
  const frames = new PcmFrames(5);
  frames.beginResponse(0);
  const given = [
    ...frames.push({ samples: seconds(0.1), words: [word("One", 0, 0.05, 0), word("two", 0.09, 0.1, 4)] }),
  ];
  frames.beginResponse(10);
  given.push(...frames.push({ samples: seconds(0.2), words: [word("Three", 0.01, 0.2, 1)] }));
  given.push(...frames.push({ samples: seconds(0.1), words: [word("cut", 0.2, 0.31, 7)] }));
  assert.equal(frames.flush(), null);
  assert.deepEqual(
    given.map(({ words }) => words?.map((each) => [each.word, Number(each.startS.toFixed(3)), each.offset])),
    [
      [["One", 0, 0]],
      [
        ["two", 0.09, 4],
        ["Three", 0.11, 11],
      ],
      [],
      [],
      [],
    ],
  );
});

it("readAntiphonStream rejects an endless event after any number of good ones", async () => {
  const good = Buffer.from("event: hello\ndata: 1\n\n");
  const endless = Buffer.alloc(2 ** 20, "x");
  let given = 0;
  const exchange = {
    head: async () => ({ status: 200, headers: { "content-type": "text/event-stream" } }),
    next: async () => (given++ < 2_000 ? good : endless),
  } as unknown as HttpExchange;
  await assert.rejects(readAntiphonStream(exchange).next(), { message: /an event that is too long/ });
  assert.equal(given, 2_009);
});

it("encodeBase64Wav restores the WAV that a clip was decoded from", async () => {
  for (const count of [1, 2, 3, 47_999, 48_002, 100_001]) {
    const at4 = (at: number) => [-32_768, 32_767, at % 30_000, -at % 30_000][at % 4]!;
    const pcm = Int16Array.from({ length: count }, (_, at) => at4(at));
    const { samples, sampleRateHz, durationS } = decodeWav(encodeWav(pcm, 22_050));
    const pieces = await encodeBase64Wav({ samples, sampleRateHz, durationS, digest: "" }, never());
    const bytes = Buffer.from(Buffer.concat(pieces).toString("latin1"), "base64");
    assert.deepEqual(bytes, Buffer.from(encodeWav(pcm, 22_050)));
  }
});
