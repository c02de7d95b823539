import assert from "node:assert/strict";
import { test } from "node:test";
import { oggChecksum } from "../../../src/audio/checksums.ts";
import { DecodingBudget } from "../../../src/audio/recordings/decoding-budget.ts";
import { findOpus, packetsOf } from "../../../src/audio/recordings/ogg.ts";
import { readOpusHead } from "../../../src/audio/recordings/opus.ts";
import { openWebm, trackPackets } from "../../../src/audio/recordings/webm.ts";
import fc from "../../properties.ts";
import { decoded } from "./decoded.ts";
import { goldenRecording } from "./golden-recordings.ts";
import { OPUS_HEAD, ogg, oggPages, pagesOf, signed } from "./ogg-writer.ts";
import { block, element, track, webm } from "./webm-writer.ts";

const HEAD = OPUS_HEAD;
/** Returns the packets of a stream, except the comment header. */
function readOgg(file: Uint8Array) {
  const budget = new DecodingBudget(100);
  const { serial, endGranule } = findOpus(file, budget);
  return { packets: [...packetsOf(file, serial, budget)], endGranule };
}

const packets = fc.array(fc.uint8Array({ maxLength: 700 }), { minLength: 1, maxLength: 12 });

test("Ogg returns its packets, however they are paged", () => {
  fc.assert(
    fc.property(packets, fc.integer({ min: 1, max: 255 }), (given, piecesPerPage) => {
      const all = [HEAD, ...given];
      const read = readOgg(ogg(all, piecesPerPage));
      const [head, , ...audio] = all;
      assert.deepEqual(read.packets.map(Buffer.from), [head!, ...audio].map(Buffer.from));
      assert.ok((read.endGranule ?? 0) >= 1_000);
    }),
  );
});

test("Ogg's checksum is the encoders'", () => {
  for (const page of pagesOf(goldenRecording("stereo.ogg")))
    assert.equal(oggChecksum(page), page.readUInt32LE(22));
});

test("Ogg skips other streams, and refuses a second recording and a truncation", () => {
  const other = ogg([Buffer.from("fishead\0"), new Uint8Array(300)], 3, 9);
  const both = Buffer.concat([other, ogg([HEAD, new Uint8Array(9), new Uint8Array(9)], 1)]);
  assert.equal(readOgg(both).packets.length, 2);
  const again = Buffer.concat([ogg([HEAD], 1), ogg([HEAD], 1, 8)]);
  assert.throws(() => readOgg(again), { message: /several recordings at once: send each as a file/ });
  const chained = [ogg([HEAD, new Uint8Array(9)], 1), ogg([HEAD, new Uint8Array(9)], 1, 8)];
  const vorbis = ogg([Buffer.from("\u0001vorbis")], 1, 8);
  for (const second of [chained[0]!, chained[1]!, vorbis]) {
    assert.throws(() => readOgg(Buffer.concat([chained[0]!, second])), {
      message: /it holds several recordings, one after the other: send each as a file of its own/,
    });
  }
  assert.throws(() => readOgg(ogg([Buffer.from("\u0001vorbis")], 1)), {
    message: /it is Ogg with Vorbis, and only Opus can be read in Ogg/,
  });
  const whole = ogg([HEAD, new Uint8Array(600)], 2);
  for (let length = 1; length < whole.length; length += 1) {
    const cut = whole.subarray(0, length);
    if (length === 27 + 1 + HEAD.length) continue;
    try {
      assert.ok(readOgg(cut).packets.length <= 2);
    } catch (error) {
      assert.equal((error as Error).name, "AudioFormatError", `${length}: ${error}`);
    }
  }
});

test("Ogg without an end mark is whole", () => {
  const pages = pagesOf(goldenRecording("mono.ogg"));
  const whole = readOgg(Buffer.concat(pages));
  const last = pages.at(-1)!;
  assert.equal(last[5]! & 4, 4, "it has one");
  last[5]! &= ~4;
  assert.deepEqual(readOgg(Buffer.concat([...pages.slice(0, -1), signed(last)])), whole);
});

test("Ogg with a missing, repeated, moved or damaged page is refused", () => {
  const pages = oggPages([HEAD, ...Array.from({ length: 9 }, (_, at) => new Uint8Array(60).fill(at))], 1);
  assert.equal(readOgg(Buffer.concat(pages)).packets.length, 9);
  const without = (from: number, count: number) => Buffer.concat(pages.toSpliced(from, count));
  const wrong: readonly [file: Buffer, message: RegExp][] = [
    [without(4, 1), /it is damaged: a page of Ogg is missing before byte 311$/],
    [without(4, 3), /it is damaged: 3 pages of Ogg are missing before byte 311$/],
    [Buffer.concat(pages.toSpliced(4, 0, pages[3]!)), /its pages of Ogg are out of order at byte 311$/],
    [Buffer.concat(pages.toSpliced(4, 2, pages[5]!, pages[4]!)), /a page of Ogg is missing before byte 311$/],
  ];
  for (const [file, message] of wrong) assert.throws(() => readOgg(file), { message });
  fc.assert(
    fc.property(fc.nat(Buffer.concat(pages).length - 1), fc.nat(7), (at, bit) => {
      const file = Buffer.concat(pages);
      file[at]! ^= 1 << bit;
      assert.throws(() => readOgg(file), { name: "AudioFormatError" });
    }),
    { numRuns: 500 },
  );
});

test("Ogg with pages that disagree on a packet is refused", () => {
  const pages = oggPages([HEAD, new Uint8Array(600), new Uint8Array(9)], 1);
  const flags = pages.map((page) => page[5]!);
  assert.deepEqual(flags, [2, 0, 1, 1, 0]);
  for (const at of [1, 2, 4]) {
    const wrong = pages.map((page) => Buffer.from(page));
    wrong[at]![5]! ^= 1;
    signed(wrong[at]!);
    assert.throws(() => readOgg(Buffer.concat(wrong)), { message: /a packet is not whole at byte \d+/ });
  }
});

test("WebM returns the packets of its audio track, with every lacing", () => {
  const video = track(1, 1, "V_VP8");
  const audio = track(2, 2, "A_OPUS\0");
  const videoBlock = element([0xa3], Buffer.of(0x81, 0, 0, 0, 1, 2, 3));
  fc.assert(
    fc.property(
      packets,
      fc.integer({ min: 0, max: 3 }),
      fc.boolean(),
      fc.boolean(),
      (given, lacing, isOpen, isGroup) => {
        const frames = lacing === 2 ? given.map(() => given[0]!) : lacing === 0 ? [given[0]!] : given;
        const body = block(frames, lacing);
        const own = isGroup ? element([0xa0], element([0xa1], body)) : element([0xa3], body);
        const read = trackPackets(
          webm([video, audio], [videoBlock, own, own], isOpen),
          2,
          new DecodingBudget(100),
        );
        assert.deepEqual([...read].map(Buffer.from), [...frames, ...frames].map(Buffer.from));
      },
    ),
  );
});

test("WebM without an Opus track is refused", () => {
  const refused: [Buffer[], RegExp][] = [
    [[], /it is WebM without an audio track/],
    [[track(1, 1, "V_VP8")], /it is WebM without an audio track/],
    [[track(1, 2, "A_VORBIS")], /it is WebM with A_VORBIS, and only Opus can be read in WebM/],
    [[track(1, 2, "A_OPUS", element([0x6d, 0x80], new Uint8Array(3)))], /compressed or encrypted further/],
  ];
  for (const [tracks, message] of refused) {
    assert.throws(() => openWebm(webm(tracks, [], false), new DecodingBudget(100)), {
      name: "AudioFormatError",
      message,
    });
  }
});

test("reading any file ends, and gives one reason", () => {
  const files = [goldenRecording("mono.ogg"), goldenRecording("mono.webm")];
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1 }),
      fc.array(fc.tuple(fc.nat(800), fc.nat(255)), { maxLength: 6 }),
      fc.nat(8_000),
      (which, faults, length) => {
        const bytes = files[which]!.slice(0, length);
        for (const [at, value] of faults) if (at < bytes.length) bytes[at] = value;
        try {
          // With valid checksums, faults reach beyond the first page.
          if (which === 0) readOgg(Buffer.concat(pagesOf(bytes).map(signed)));
          else openWebm(bytes, new DecodingBudget(100));
        } catch (error) {
          assert.equal((error as Error).name, "AudioFormatError", `${(error as Error).stack}`);
        }
      },
    ),
  );
});

test("an Opus header has its channels, or is refused", () => {
  const surround = Uint8Array.of(...HEAD.subarray(0, 9), 3, ...HEAD.subarray(10, 18), 1, 2, 1, 0, 2, 1);
  assert.deepEqual(readOpusHead(surround), {
    channels: 3,
    gain: 1,
    preSkip: 312,
    streams: 2,
    coupledStreams: 1,
    mapping: [0, 2, 1],
  });
  for (const wrong of [
    HEAD.subarray(0, 18),
    new Uint8Array(19),
    surround.subarray(0, 22),
    Uint8Array.of(...surround.subarray(0, 21), 9, 9, 9),
    Uint8Array.of(...HEAD.subarray(0, 9), 3, ...HEAD.subarray(10)),
  ])
    assert.throws(() => readOpusHead(wrong), { name: "AudioFormatError" });
});

test("an Opus header with too many streams is refused", () => {
  const head = (streams: number, coupled: number) =>
    Uint8Array.of(...HEAD.subarray(0, 9), 2, ...HEAD.subarray(10, 18), 1, streams, coupled, 0, 1);
  assert.equal(readOpusHead(head(4, 4)).streams, 4);
  for (const [streams, coupled] of [
    [8, 1],
    [255, 0],
  ] as const)
    assert.throws(() => readOpusHead(head(streams, coupled)), { name: "AudioFormatError" });
});

test("Opus has the gain of its header", async () => {
  const pages = pagesOf(goldenRecording("mono.ogg"));
  const { samples } = await decoded(Buffer.concat(pages), 10);
  // In 256ths of a decibel, after the page header of 28 bytes.
  pages[0]!.writeInt16LE(-20 * 256, 28 + 16);
  const quiet = await decoded(Buffer.concat([signed(pages[0]!), ...pages.slice(1)]), 10);
  assert.equal(quiet.samples.length, samples.length);
  for (const [at, sample] of quiet.samples.entries())
    assert.ok(Math.abs(sample - samples[at]! / 10) < 1e-6, `sample ${at}`);
});
