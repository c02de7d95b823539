import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../properties.ts";
import { decoded } from "./decoded.ts";
import { type FlacWay, flacFile } from "./flac-writer.ts";

const way: fc.Arbitrary<FlacWay> = fc.record({
  kind: fc.constantFrom("verbatim", "fixed", "fixed", "fixed"),
  order: fc.integer({ min: 0, max: 4 }),
  wasted: fc.constantFrom(0, 0, 3),
  rice: fc.option(fc.integer({ min: 6, max: 14 }), { nil: null }),
  partitionOrder: fc.integer({ min: 0, max: 2 }),
});

test("FLAC returns its samples, with every predictor, code and stereo mode", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom(0, 1, 8, 9, 10),
      fc.array(way, { minLength: 2, maxLength: 2 }),
      fc.infiniteStream(fc.integer({ min: -4_096, max: 4_095 })),
      async (quarter, assignment, ways, dice) => {
        const length = 4 * (quarter + 4);
        const count = assignment === 0 ? 1 : 2;
        // Eights of them, so that three low bits can be wasted; the mean of two channels then has none.
        const safe = assignment === 10 ? ways.map((each) => ({ ...each, wasted: 0 })) : ways;
        const channels = Array.from({ length: count }, () =>
          Array.from({ length }, () => 8 * dice.next().value!),
        );
        const { samples } = await decoded(flacFile(channels, assignment, safe), 10);
        const means = channels[0]!.map((_, at) => channels.reduce((sum, each) => sum + each[at]!, 0) / count);
        assert.deepEqual(
          [...samples],
          means.map((mean) => mean / 32_768),
        );
      },
    ),
    { numRuns: 150 },
  );
});

test("FLAC of one value takes a few bytes, up to the limit", async () => {
  const constant: FlacWay = { kind: "constant", order: 0, wasted: 0, rice: 0, partitionOrder: 0 };
  const samples = Array<number>(16_000).fill(-123);
  const file = flacFile([samples], 0, [constant]);
  assert.ok(file.length < 80);
  assert.equal((await decoded(file, 1)).samples.at(-1), Math.fround(-123 / 32_768));
  await assert.rejects(decoded(file, 0.9), { name: "RecordingTooLongError" });
});

test("damaged FLAC is refused", async () => {
  const verbatim: FlacWay = { kind: "verbatim", order: 0, wasted: 0, rice: 0, partitionOrder: 0 };
  const file = flacFile([[1, 2, 3, 4, 5, 6, 7, 8]], 0, [verbatim]);
  for (let at = 4; at < file.length; at += 1) {
    const damaged = file.slice();
    damaged[at]! ^= 0x11;
    await decoded(damaged, 10).catch((error: Error) =>
      assert.match(error.name, /^(?:AudioFormat|RecordingTooLong)Error$/, `${at}`),
    );
    await assert.rejects(decoded(file.slice(0, at), 10), { name: "AudioFormatError" });
  }
  const inFrame = file.slice();
  inFrame[file.length - 4]! ^= 1;
  await assert.rejects(decoded(inFrame, 10), { message: /its frame at byte 42 is damaged/ });
});
