import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { ENCODINGS, type Encoder, type Encoding, PCM_RATES } from "../../../src/audio/encode/encoder.ts";
import { openEncoder } from "../../../src/audio/encode/open-encoder.ts";
import { FRAME_SAMPLES } from "../../../src/audio/format.ts";
import { pcm16Bytes } from "../../../src/audio/pcm.ts";
import { DecodingBudget } from "../../../src/audio/recordings/decoding-budget.ts";
import { findOpus } from "../../../src/audio/recordings/ogg.ts";
import fc from "../../properties.ts";
import { decoded } from "../recordings/decoded.ts";
import { decode } from "./decoders.ts";

interface Promised {
  /** Leading samples, and the maximum of additional ones. */
  readonly lead: number;
  readonly more: number;
  /** Samples that may be held back, including the decoder's. */
  readonly lag: number;
  /** In dB; null if lossless. */
  readonly snrDb: number | null;
  readonly bytesASecond: readonly [number, number];
}

const EXACT = { lead: 0, more: 0, lag: 0, snrDb: null, bytesASecond: [48_000, 48_200] } as const;
const TELEPHONE = { lead: 0, more: 0, lag: 32, snrDb: 30, bytesASecond: [8_000, 8_001] } as const;

/** Half a filter is held back, which is longer for lower rates. */
const at = (rateHz: number, lag: number): Promised => ({
  lead: 0,
  more: 0,
  lag,
  snrDb: 60,
  bytesASecond: [2 * rateHz, 2 * rateHz + 2],
});

const PROMISED: Record<Encoding, Promised> = {
  mp3: { lead: 1_105, more: 2_400, lag: 2_448 + 1_152, snrDb: 15, bytesASecond: [16_000, 16_800] },
  opus: { lead: 0, more: 0, lag: FRAME_SAMPLES + 156, snrDb: 15, bytesASecond: [6_000, 11_000] },
  flac: { lead: 0, more: 0, lag: 2 * FRAME_SAMPLES, snrDb: null, bytesASecond: [8_000, 45_000] },
  wav: EXACT,
  pcm: EXACT,
  mulaw: TELEPHONE,
  alaw: TELEPHONE,
  pcm_8000: at(8_000, 144),
  pcm_16000: at(16_000, 73),
  pcm_22050: at(22_050, 54),
  pcm_32000: at(32_000, 49),
  pcm_44100: at(44_100, 49),
  pcm_48000: at(48_000, 49),
};

/** The longest sound of each rate; shorter ones are its beginning. */
const made = new Map<number, Int16Array>();

/** Returns a vowel-like sound within the telephone band. */
function sound(length: number, rateHz = 24_000): Int16Array {
  const known = made.get(rateHz);
  if (known !== undefined && known.length >= length) return known.slice(0, length);
  const longest = longestSound(Math.max(Math.ceil(length), 72_000), rateHz);
  made.set(rateHz, longest);
  return longest.slice(0, length);
}

function longestSound(length: number, rateHz: number): Int16Array {
  return Int16Array.from({ length }, (_, at) => {
    const t = at / rateHz;
    const loudness = 3_000 * (1 + Math.sin(2 * Math.PI * 2.5 * t)) * Math.min(1, t / 0.02);
    const phase = 2 * Math.PI * (180 * t + 2 * Math.sin(2 * Math.PI * 1.5 * t));
    let value = 0;
    for (let k = 1; k <= 10; k += 1) value += Math.sin(k * phase + k * k) / k;
    return Math.round(loudness * value);
  });
}

async function fileOf(encoding: Encoding, pcm: Int16Array, cuts: readonly number[] = []): Promise<Buffer> {
  const encoder = await openEncoder(encoding, 7);
  try {
    return Buffer.concat([encoder.head(), ...pushed(encoder, pcm, cuts), encoder.end()]);
  } finally {
    encoder.free();
  }
}

function pushed(encoder: Encoder, pcm: Int16Array, cuts: readonly number[]): Uint8Array[] {
  const ends = [...cuts.filter((cut) => cut < pcm.length).sort((a, b) => a - b), pcm.length];
  return ends.map((end, index) => encoder.push(pcm.subarray(index === 0 ? 0 : ends[index - 1], end)));
}

const framesIn = (pcm: Int16Array) =>
  Array.from({ length: Math.floor(pcm.length / FRAME_SAMPLES) }, (_, at) => (at + 1) * FRAME_SAMPLES);

function snrDb(wanted: Float32Array, got: Float32Array): number {
  let signal = 0;
  let noise = 0;
  for (const [at, value] of wanted.entries()) {
    signal += value * value;
    noise += (value - got[at]!) ** 2;
  }
  return 10 * Math.log10(signal / noise);
}

for (const encoding of [...ENCODINGS, ...PCM_RATES.map((rateHz): Encoding => `pcm_${rateHz}`)]) {
  const promised = PROMISED[encoding];

  describe(`a file of ${encoding}`, () => {
    for (const length of [1, 700, FRAME_SAMPLES, 50_001]) {
      test(`of ${length} samples is as long as its input to another decoder`, async () => {
        const { samples, rateHz } = await decode(encoding, await fileOf(encoding, sound(length)));
        const wanted = Math.ceil((length * rateHz) / 24_000);
        const { lead } = promised;
        // This Opus decoder does not trim a file of one page.
        const more = encoding === "opus" && length < FRAME_SAMPLES ? 156 : promised.more;
        assert.ok(samples.length >= wanted + lead, `${samples.length} of ${wanted + lead}`);
        assert.ok(samples.length <= wanted + lead + more, `${samples.length} of ${wanted + lead}`);
      });
    }

    test("sounds like its input", async () => {
      const pcm = sound(60_000);
      const { samples, rateHz } = await decode(encoding, await fileOf(encoding, pcm));
      const wanted = Float32Array.from(
        sound((pcm.length * rateHz) / 24_000, rateHz),
        (sample) => sample / 32_767,
      );
      const got = samples.subarray(promised.lead, promised.lead + wanted.length);
      if (promised.snrDb !== null) {
        const found = snrDb(wanted, got);
        assert.ok(found >= promised.snrDb, `${found.toFixed(1)} dB`);
      } else {
        assert.deepEqual(
          Int16Array.from(got, (value) => Math.round(value * 32_767)),
          pcm,
        );
      }
    });

    test("has its nominal bit rate", async () => {
      const [least, most] = promised.bytesASecond;
      const bytes = (await fileOf(encoding, sound(72_000))).length / 3;
      assert.ok(bytes >= least && bytes <= most, `${bytes}`);
    });

    test("has the same bytes whatever the chunks, and after other files", async () => {
      const pcm = sound(9_000);
      const whole = await fileOf(encoding, pcm);
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(9_000), { maxLength: 30 }), async (cuts) => {
          assert.ok((await fileOf(encoding, pcm, cuts)).equals(whole), `${cuts}`);
        }),
        { numRuns: 8 },
      );
    });

    test("holds back no more than it has to", async () => {
      const pcm = sound(20 * FRAME_SAMPLES);
      const encoder = await openEncoder(encoding);
      const bytes = Buffer.concat([encoder.head(), ...pushed(encoder, pcm, framesIn(pcm))]);
      encoder.free();
      const { samples, rateHz } = await decode(encoding, bytes, false);
      const decodedSamples = ((samples.length - promised.lead) * 24_000) / rateHz;
      assert.ok(
        decodedSamples >= pcm.length - promised.lag,
        `${pcm.length - decodedSamples} samples are held back`,
      );
    });

    test("is independent of other encoders", async () => {
      const pcm = sound(12_000);
      const alone = await fileOf(encoding, pcm);
      const one = await openEncoder(encoding, 7);
      const other = await openEncoder(encoding, 8);
      const left = await openEncoder(encoding, 9);
      const made = [one.head()];
      for (let at = 0; at < pcm.length; at += 1_000) {
        made.push(one.push(pcm.subarray(at, at + 1_000)));
        other.push(sound(500));
        if (at === 3_000) left.push(sound(3_000));
        if (at === 5_000) left.free();
      }
      made.push(one.end());
      for (const encoder of [one, other, left, left]) encoder.free();
      assert.ok(Buffer.concat(made).equals(alone));
    });

    test("has a header that can be finished in place", async () => {
      const pcm = sound(5_000);
      const encoder = await openEncoder(encoding);
      const file = Buffer.concat([encoder.head(), encoder.push(pcm), encoder.end()]);
      const head = encoder.finishedHead();
      encoder.free();
      assert.equal(head.length, encoder.head().length);
      file.set(head);
      const { samples } = await decode(encoding, file);
      assert.ok(samples.length >= pcm.length / 3);
      if (encoding === "wav") assert.equal(file.readUInt32LE(40), 10_000);
      if (encoding !== "flac") return;
      assert.equal(Number(file.readBigUInt64BE(18) & 0xf_ffff_ffffn), 5_000);
      assert.deepEqual(file.subarray(26, 42), createHash("md5").update(pcm16Bytes(pcm)).digest());
    });
  });
}

test("FLAC is lossless, and no frame is larger than its samples", async () => {
  const noise = fc.int16Array({ minLength: 1, maxLength: 2_500 });
  const steps = fc
    .array(fc.tuple(fc.integer({ min: -32_768, max: 32_767 }), fc.integer({ min: 1, max: 900 })), {
      minLength: 1,
      maxLength: 5,
    })
    .map((parts) => Int16Array.from(parts.flatMap(([level, count]) => new Array<number>(count).fill(level))));
  await fc.assert(
    fc.asyncProperty(fc.oneof(noise, steps), async (pcm) => {
      const file = await fileOf("flac", pcm);
      assert.ok(file.length <= 42 + 2 * pcm.length + 20 * Math.ceil(pcm.length / FRAME_SAMPLES));
      // The browser decoder loses a last frame of a single sample; this one verifies every checksum.
      const { samples } = await decoded(file, 10);
      assert.deepEqual(
        Int16Array.from(samples, (value) => value * 32_768),
        pcm,
      );
    }),
    { numRuns: 60 },
  );
});

test("Opus has the given serial number and its exact length", async () => {
  for (const length of [1, 480, 700, 1_764, 1_765, FRAME_SAMPLES, 50_001]) {
    const file = await fileOf("opus", sound(length));
    assert.equal(file.readUInt32LE(14), 7);
    assert.equal(findOpus(file, new DecodingBudget(10)).endGranule, 2 * length + 312);
    const { durationS } = await decoded(file, 10);
    assert.ok(Math.abs(durationS - length / 24_000) < 1 / 16_000, `${length}: ${durationS} s`);
  }
});

test("resampled input has no aliasing, and the rest is unchanged", async () => {
  const tone = (frequencyHz: number) =>
    Int16Array.from({ length: 24_000 }, (_, at) =>
      Math.round(10_000 * Math.sin((2 * Math.PI * frequencyHz * at) / 24_000)),
    );
  const levelDb = async (encoding: Encoding, frequencyHz: number) => {
    const { samples } = await decode(encoding, await fileOf(encoding, tone(frequencyHz)));
    const middle = samples.subarray(1_000, samples.length - 1_000);
    const power = middle.reduce((sum, value) => sum + value * value, 0) / middle.length;
    return 10 * Math.log10((2 * power) / (10_000 / 32_767) ** 2);
  };
  for (const [encoding, holdsHz, folds] of [
    ["pcm_8000", 3_500, 4_500],
    ["pcm_16000", 7_100, 9_000],
    ["pcm_22050", 9_800, 11_800],
  ] as const) {
    const held = await levelDb(encoding, holdsHz);
    assert.ok(Math.abs(held) < 0.1, `${encoding}: ${held.toFixed(2)} dB at ${holdsHz} Hz`);
    const folded = await levelDb(encoding, folds);
    assert.ok(folded < -65, `${encoding}: ${folded.toFixed(1)} dB at ${folds} Hz`);
  }
});
