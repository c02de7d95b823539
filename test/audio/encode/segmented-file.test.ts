import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BookTag } from "../../../src/audio/encode/chapters.ts";
import { SEGMENTED, type SegmentedKind, segmentedFile } from "../../../src/audio/encode/segmented-file.ts";
import fc from "../../properties.ts";
import { decode } from "./decoders.ts";

const SILENCE = 1_600;
const CHAPTERS = [
  { title: "One", startS: 0 },
  { title: "Two", startS: 1 },
];

/** A tone with its own pitch, then silence. */
function segment(steps: number, number: number, stepSamples: number): Int16Array {
  const length = Math.ceil((SILENCE + 4_000 * steps) / stepSamples) * stepSamples;
  const pitchHz = 150 + 70 * number;
  return Int16Array.from({ length }, (_, at) => {
    if (at >= length - SILENCE) return 0;
    const fade = Math.min(1, at / 500, (length - SILENCE - at) / 500);
    return Math.round(8_000 * fade * Math.sin((2 * Math.PI * pitchHz * at) / 24_000));
  });
}

async function bytesOf(kind: SegmentedKind, segments: readonly Int16Array[], from = 0): Promise<Buffer[]> {
  const file = segmentedFile(kind, 7);
  const parts: Buffer[] = [];
  let samples = segments.slice(0, from).reduce((sum, { length }) => sum + length, 0);
  for (const pcm of segments.slice(from)) {
    const encoder = await file.segment(samples);
    const half = pcm.length >> 1;
    parts.push(
      Buffer.concat([encoder.push(pcm.subarray(0, half)), encoder.push(pcm.subarray(half)), encoder.end()]),
    );
    encoder.free();
    samples += pcm.length;
  }
  return [...parts, Buffer.from(await file.tail(samples))];
}

function whole(
  kind: SegmentedKind,
  parts: readonly Buffer[],
  samples: number,
  chapters = CHAPTERS,
  tags: BookTag[] = [],
): Buffer {
  const file = segmentedFile(kind, 7);
  const bytes = Buffer.concat([file.head(), ...parts]);
  const head = file.finishedHead(samples, bytes.length, chapters, tags);
  return Buffer.concat([head, bytes.subarray(file.head().length)]);
}

for (const kind of SEGMENTED) {
  const { stepSamples } = segmentedFile(kind, 7);
  const given = [2, 1, 5, 3].map((steps, number) => segment(steps, number, stepSamples));
  const pcm = given.flatMap((each) => [...each]);

  describe(`a file of ${kind} in segments`, () => {
    it("sounds like its input, and is as long", async () => {
      const { samples } = await decode(kind, whole(kind, await bytesOf(kind, given), pcm.length));
      assert.equal(samples.length, pcm.length);
      const noise = pcm.reduce((sum, sample, at) => sum + (sample / 32_768 - samples[at]!) ** 2, 0);
      const signal = pcm.reduce((sum, sample) => sum + (sample / 32_768) ** 2, 0);
      const snrDb = 10 * Math.log10(signal / noise);
      assert.ok(snrDb > 20, `${snrDb.toFixed(1)} dB`);
      const inSilence = pcm.reduce(
        (most, sample, at) =>
          isStill(pcm, at) && sample === 0 ? Math.max(most, Math.abs(samples[at]!)) : most,
        0,
      );
      assert.ok(inSilence < 0.003, `${inSilence} where it is still`);
    });

    it("has the same bytes from any segment on", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 4 }),
          fc.nat(3),
          async (lengths, from) => {
            const segments = lengths.map((steps, number) => segment(steps, number, stepSamples));
            const all = await bytesOf(kind, segments);
            const rest = await bytesOf(kind, segments, from);
            assert.deepEqual(rest, all.slice(Math.min(from, segments.length)));
          },
        ),
        { numRuns: 10 },
      );
    });

    it("marks an unknown length, and gets chapters without moving the sound", async () => {
      const parts = await bytesOf(kind, given);
      const file = segmentedFile(kind, 7);
      assert.equal(file.finishedHead(pcm.length, 10_000, [], []).length, file.head().length);
      const begun = await decode(kind, Buffer.concat([file.head(), ...parts.slice(0, -1)]), false);
      assert.ok(begun.samples.length >= pcm.length - 4_000, `${begun.samples.length} of ${pcm.length}`);
      const plain = await decode(kind, whole(kind, parts, pcm.length, []));
      const marked = await decode(kind, whole(kind, parts, pcm.length));
      assert.deepEqual(marked.samples, plain.samples);
    });

    it("gets tags of a bounded length without moving the sound", async () => {
      const parts = await bytesOf(kind, given);
      const tags: BookTag[] = [
        ["TITLE", "Über\n\u0000 Bäume"],
        ["ARTIST", "é".repeat(300)],
      ];
      const plain = await decode(kind, whole(kind, parts, pcm.length, []));
      for (const chapters of [[], CHAPTERS]) {
        const file = whole(kind, parts, pcm.length, chapters, tags);
        assert.deepEqual((await decode(kind, file)).samples, plain.samples);
        const form = kind === "mp3" ? "utf16le" : "utf8";
        const names = kind === "mp3" ? ["", ""] : ["TITLE=", "ARTIST="];
        for (const text of [`${names[0]}Über Bäume`, `${names[1]}${"é".repeat(199)}…`])
          assert.equal(file.includes(Buffer.from(text, form)), kind !== "wav", text);
      }
    });
  });
}

/** Whether 40 ms before and after are silent. */
function isStill(pcm: readonly number[], at: number): boolean {
  return pcm[at - 960] === 0 && pcm[at + 200] === 0 && pcm[at - 480] === 0;
}
