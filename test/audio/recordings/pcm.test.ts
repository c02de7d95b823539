import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { alaw, mulaw, type PcmFormat } from "../../../src/audio/pcm-format.ts";
import { openPcmSound } from "../../../src/audio/recordings/recording-sound.ts";
import type { AudioSource } from "../../../src/core/audio-source.ts";
import fc from "../../properties.ts";

const NEVER = new AbortController().signal;
const MAX_S = 2;
const MONO: PcmFormat = { kind: "s16", sampleRateHz: 8_000, channels: 1 };

async function all(sound: AudioSource): Promise<number[]> {
  const samples: number[] = [];
  for (;;) {
    const read = await sound.read(1_000, NEVER);
    if (read.length === 0) return samples;
    samples.push(...read);
  }
}

async function* each<T>(pieces: Iterable<T>): AsyncGenerator<T, void, void> {
  yield* pieces;
}

describe("streamed PCM", () => {
  const formats = fc.record({
    kind: fc.constantFrom<PcmFormat["kind"]>("s16", "s24", "s32", "mulaw", "alaw"),
    sampleRateHz: fc.constantFrom(8_000, 16_000, 24_000, 48_000),
    channels: fc.integer({ min: 1, max: 3 }),
  });
  test("equals PCM in one piece, however it is cut", async () => {
    const cuts = fc.array(fc.nat(40), { minLength: 1 });
    const bytes = fc.uint8Array({ minLength: 200, maxLength: 600 });
    await fc.assert(
      fc.asyncProperty(formats, bytes, cuts, async (format, whole, sizes) => {
        const pieces: Uint8Array[] = [];
        let at = 0;
        for (const size of sizes) {
          pieces.push(whole.subarray(at, at + size));
          at += size;
        }
        pieces.push(whole.subarray(at));
        const apart = await all(openPcmSound(each(pieces), format, MAX_S));
        assert.deepEqual(apart, await all(openPcmSound(whole, format, MAX_S)));
      }),
    );
  });

  test("is read as soon as it arrives", async () => {
    const never = new Promise<void>(() => {});
    async function* live(): AsyncGenerator<Uint8Array, void, void> {
      yield Uint8Array.of(0, 0x40, 0);
      yield Uint8Array.of(0xc0);
      await never;
    }
    assert.deepEqual([...(await openPcmSound(live(), MONO, MAX_S).read(2))], [0.5, -0.5]);
  });

  test("is decoded from G.711", async () => {
    const level = [0, 1_000, -8_000, 30_000];
    for (const [kind, code] of [
      ["mulaw", mulaw],
      ["alaw", alaw],
    ] as const) {
      const samples = await all(openPcmSound(each([Uint8Array.from(level, code)]), { ...MONO, kind }, MAX_S));
      for (const [at, sample] of samples.entries())
        assert.ok(Math.abs(sample - level[at]! / 32_768) < 0.02, `${kind} ${at}: ${sample}`);
    }
  });

  test("has the limits of recordings", async () => {
    const open = (format: Partial<PcmFormat>) => () => openPcmSound(each([]), { ...MONO, ...format }, MAX_S);
    assert.throws(open({ sampleRateHz: 96_001 }), { message: /its sample rate is 96001 Hz/ });
    assert.throws(open({ channels: 9 }), { message: /it has 9 channels/ });
    const second = new Uint8Array(16_000);
    const long = openPcmSound(each([second, second, second]), MONO, MAX_S);
    assert.equal(long.boundS, MAX_S);
    await assert.rejects(all(long), { name: "RecordingTooLongError", maxS: MAX_S });
    const empty = Array.from({ length: 10_000 }, () => new Uint8Array(0));
    await assert.rejects(all(openPcmSound(each(empty), MONO, MAX_S)), { message: /more work to decode/ });
    await assert.rejects(all(openPcmSound(each([Uint8Array.of(1)]), MONO, MAX_S)), {
      message: /it has no samples/,
    });
  });

  test("fails as its source does, and is not read after an abort", async () => {
    const gone = new AbortController();
    async function* failing(): AsyncGenerator<Uint8Array, void, void> {
      yield second();
      gone.abort(new Error("gone"));
      yield second();
      throw new Error("the line is dead");
    }
    const second = (): Uint8Array => new Uint8Array(1_600);
    const sound = openPcmSound(failing(), MONO, MAX_S);
    assert.equal((await sound.read(800, gone.signal)).length, 800);
    await assert.rejects(sound.read(801, gone.signal), /gone/);
    await assert.rejects(sound.read(801, gone.signal), /gone/);
    await assert.rejects(sound.read(9_000), /the line is dead/);
  });

  test("with an odd byte is refused by its place", async () => {
    const piece = (sample: number): Uint8Array => new Uint8Array(Float32Array.of(0, sample).buffer);
    const sound = openPcmSound(each([piece(0.5), piece(Number.NaN)]), { ...MONO, kind: "f32" }, MAX_S);
    await assert.rejects(all(sound), { message: /sample 3 is not a finite number/ });
  });
});
