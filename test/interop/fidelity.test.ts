import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { compareSpeech, FIDELITY, type Sound } from "./fidelity.ts";

const RATE_HZ = 24_000;
const LENGTH = 30_000;

/** Something like a voice that moves: `pace` 1 is as it was spoken. */
function voice({ length = LENGTH, level = 0.3, pace = 1, pitchHz = 170 } = {}): Sound {
  const samples = Float32Array.from({ length }, (_, at) => {
    const t = (at * pace) / RATE_HZ;
    const phase = 2 * Math.PI * (pitchHz * t + 3 * Math.sin(2 * Math.PI * 0.7 * t));
    const loudness = level * (0.6 + 0.4 * Math.sin(2 * Math.PI * 3.1 * t));
    return (loudness * (Math.sin(phase) + 0.5 * Math.sin(3 * phase + 1))) / 1.5;
  });
  return { samples, rateHz: RATE_HZ };
}

/** Silence before and after. */
function within({ samples, rateHz }: Sound, before: number, after: number): Sound {
  const longer = new Float32Array(before + samples.length + after);
  longer.set(samples, before);
  return { samples: longer, rateHz };
}

const cut = ({ samples, rateHz }: Sound, count: number): Sound => ({
  samples: samples.slice(0, -count),
  rateHz,
});
const silence = (length: number): Sound => ({ samples: new Float32Array(length), rateHz: RATE_HZ });

describe("decoded speech", () => {
  test("matches itself, with or without an MP3's lead-in", () => {
    assert.deepEqual(compareSpeech(voice(), voice(), FIDELITY.wav).lag, 0);
    for (const lead of [0, 529, 1_105]) {
      const { lag, more, seconds } = compareSpeech(within(voice(), lead, 400), voice(), FIDELITY.mp3);
      assert.deepEqual([lag, more, seconds], [lead, lead + 400, (LENGTH + lead + 400) / RATE_HZ]);
    }
  });

  test("fails if it is another sound, silent, quieter, or at another pace or rate", () => {
    for (const format of ["mp3", "opus", "pcm"] as const) {
      const refused = (heard: Sound, message: RegExp) =>
        assert.throws(() => compareSpeech(heard, voice(), FIDELITY[format]), message, format);
      refused(voice({ pitchHz: 200 }), /a correlation of/);
      refused(voice({ pace: 1.01 }), /a correlation of/);
      refused(silence(LENGTH), /a correlation of 0\.0000/);
      refused(voice({ level: 0.2 }), /: a level -3\.5 dB off$/);
      refused({ ...voice(), rateHz: 48_000 }, /: 48000 Hz in place of 24000$/);
      refused({ samples: new Float32Array(0), rateHz: RATE_HZ }, /: -30000 samples more/);
    }
  });

  test("fails if samples are missing or added", () => {
    assert.throws(() => compareSpeech(cut(voice(), 1), voice(), FIDELITY.flac), /: -1 samples more/);
    assert.throws(() => compareSpeech(within(voice(), 0, 1), voice(), FIDELITY.opus), /: 1 samples more/);
    assert.throws(
      () => compareSpeech(within(voice(), 1_105, 2_600), voice(), FIDELITY.mp3),
      /: 3705 samples/,
    );
    const { samples, rateHz } = voice();
    const skipped = Float32Array.from([...samples.subarray(0, 9_000), ...samples.subarray(10_920)]);
    const padded = within({ samples: skipped, rateHz }, 0, 1_920);
    assert.throws(() => compareSpeech(padded, voice(), FIDELITY.mp3), /a correlation of/);
  });

  test("may lack its end as far as a client's allowance", () => {
    const lacking = { ...FIDELITY.pcm, more: [-2_400, 0] as const };
    assert.equal(compareSpeech(cut(voice(), 2_000), voice(), lacking).more, -2_000);
    assert.throws(() => compareSpeech(cut(voice(), 2_401), voice(), lacking), /-2401 samples/);
  });

  test("must be silent for silence", () => {
    assert.equal(compareSpeech(silence(4_800), silence(4_800), FIDELITY.pcm).seconds, 0.2);
    assert.throws(
      () => compareSpeech(voice({ length: 4_800 }), silence(4_800), FIDELITY.pcm),
      /: a sound in place of silence$/,
    );
    assert.throws(() => compareSpeech(silence(4_000), silence(4_800), FIDELITY.pcm), /: -800 samples more/);
  });
});
