import assert from "node:assert/strict";
import { test } from "node:test";
import { AudioFormatError } from "../../../src/audio/audio-format-error.ts";
import { RecordingTooLongError } from "../../../src/audio/recordings/recording.ts";
import fc from "../../properties.ts";
import { makeWav } from "../make-wav.ts";
import { decoded } from "./decoded.ts";
import { goldenRecording } from "./golden-recordings.ts";
import { pagesOf, signed } from "./ogg-writer.ts";

const MAX_S = 3;
const HIGHEST_KEPT_HZ = 24_000;
/** Memory in addition to the samples: blocks at the highest rate, and the decoder's own. */
const SPARE_BYTES = 32 * 2 ** 20;

const tone = Array.from({ length: 4_000 }, (_, at) => Math.round(9_000 * Math.sin(at / 9)));
const files: Readonly<Record<string, Uint8Array>> = {
  WAV: makeWav({ encoding: "s16", rateHz: 16_000, channels: [tone, tone] }),
  "streamed WAV": makeWav({ encoding: "f32", rateHz: 16_000, channels: [tone], dataSize: 0xffff_ffff }),
  MP3: goldenRecording("stereo-22050.mp3"),
  FLAC: goldenRecording("mono-16000.flac"),
  "FLAC of 24 bits": goldenRecording("stereo-8000-24.flac"),
  Ogg: goldenRecording("mono.ogg"),
  "Ogg with right checksums": goldenRecording("stereo.ogg"),
  WebM: goldenRecording("mono.webm"),
};

/** A position in a file; half of them in its headers. */
const place = fc.oneof(
  fc.double({ min: 0, max: 0.999, noNaN: true }),
  fc.double({ min: 0, max: 0.03, noNaN: true }),
);
const damage = fc.oneof(
  fc.record({ kind: fc.constant("flip" as const), at: place, by: fc.integer({ min: 1, max: 255 }) }),
  fc.record({
    kind: fc.constantFrom("cut" as const, "lose" as const, "repeat" as const),
    at: place,
    by: fc.nat(600),
  }),
);

function damaged(file: Uint8Array, { kind, at, by }: { kind: string; at: number; by: number }): Buffer {
  const from = Math.floor(at * file.length);
  const [before, after] = [file.subarray(0, from), file.subarray(from)];
  if (kind === "flip") return Buffer.concat([before, Buffer.of(file[from]! ^ by), after.subarray(1)]);
  if (kind === "cut") return Buffer.from(before);
  if (kind === "lose") return Buffer.concat([before, after.subarray(by)]);
  return Buffer.concat([before, after.subarray(0, by), after]);
}

/** Returns the sound, or the reason and remedy. */
async function outcome(file: Uint8Array): Promise<object | string> {
  let recording: Awaited<ReturnType<typeof decoded>>;
  try {
    recording = await decoded(file, MAX_S);
  } catch (error) {
    if (error instanceof RecordingTooLongError) return error.message;
    assert.ok(error instanceof AudioFormatError, `${(error as Error).stack}`);
    assert.match(error.message, /^undecodable audio: \S.+: send \S/);
    return error.message;
  }
  const { samples, sampleRateHz, durationS } = recording;
  assert.ok(durationS > 0 && durationS <= MAX_S, `${durationS} s`);
  assert.ok(sampleRateHz <= HIGHEST_KEPT_HZ && samples.length <= durationS * sampleRateHz + 1);
  assert.ok(samples.every((sample) => sample >= -1 && sample <= 1));
  return recording;
}

for (const [kind, whole] of Object.entries(files)) {
  test(`damaged or truncated ${kind} gives sound or a reason, in bounded memory`, async () => {
    assert.equal(typeof (await outcome(whole)), "object", "undamaged it is sound");
    const before = process.memoryUsage().arrayBuffers;
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
        let file = damages.reduce<Buffer>(damaged, Buffer.from(whole));
        if (kind === "Ogg with right checksums") file = Buffer.concat(pagesOf(file).map(signed));
        seen.add(typeof (await outcome(file)));
        assert.ok(process.memoryUsage().arrayBuffers - before < SPARE_BYTES);
      }),
      { numRuns: 120 },
    );
    assert.ok(seen.has("string"), "some of it is refused");
  });
}
