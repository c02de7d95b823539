import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../../src/audio/format.ts";
import { joinSamples } from "../../../src/audio/pcm.ts";
import type { Frame } from "../../../src/core/speech-model.ts";
import { FrameJoiner } from "../../../src/serving/reply/frame-joiner.ts";

/** A tone between two silences, in frames of 80 ms, with one word over the tone. Lengths in samples. */
function part(before: number, tone: number, after: number, word: string): Frame[] {
  const samples = new Float32Array(before + tone + after).fill(0.5, before, before + tone);
  const frames: Frame[] = [];
  for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
    const begins = before >= at && before < at + FRAME_SAMPLES;
    const [startS, endS] = [before / SAMPLE_RATE_HZ, (before + tone) / SAMPLE_RATE_HZ];
    frames.push({
      samples: samples.slice(at, at + FRAME_SAMPLES),
      words: begins ? [{ word, startS, endS, offset: 0, length: word.length }] : [],
    });
  }
  return frames;
}

function join(parts: readonly Frame[][], gapS: number | null) {
  const joiner = new FrameJoiner();
  const frames: Frame[] = [];
  for (const [index, each] of parts.entries()) {
    if (index > 0) joiner.beginPart(gapS);
    for (const frame of each) frames.push(...joiner.push(frame));
  }
  frames.push(...joiner.end());
  return { frames, samples: joinSamples(frames.map(({ samples }) => samples)) };
}

/** Lengths of the runs of sound and silence, in turn. */
function runs(samples: Float32Array): number[] {
  const lengths: number[] = [0];
  let isSound = false;
  for (const sample of samples) {
    if ((sample !== 0) !== isSound) {
      lengths.push(0);
      isSound = !isSound;
    }
    lengths[lengths.length - 1]! += 1;
  }
  return lengths;
}

describe("FrameJoiner", () => {
  const PARTS = [
    part(100, 5_000, 4_800, "one"),
    part(700, 3_000, 2_000, "two"),
    part(3_000, 2_500, 9_000, "three"),
  ];

  for (const gapS of [0, 0.01, 0.1, 0.2, 0.25, 0.35, 2]) {
    const gap = Math.round(gapS * SAMPLE_RATE_HZ);
    test(`leaves ${gapS} s between sounds, and moves the words along`, () => {
      const { frames, samples } = join(PARTS, gapS);
      assert.ok(frames.slice(0, -1).every((frame) => frame.samples.length === FRAME_SAMPLES));
      const expected = gap === 0 ? [100, 10_500, 9_000] : [100, 5_000, gap, 3_000, gap, 2_500, 9_000];
      assert.deepEqual(runs(samples), expected);
      let from = 100;
      for (const [index, [tone, word]] of (
        [
          [5_000, "one"],
          [3_000, "two"],
          [2_500, "three"],
        ] as const
      ).entries()) {
        const found = frames.flatMap(({ words = [] }) => words)[index]!;
        assert.equal(found.word, word);
        assert.ok(Math.abs(found.startS * SAMPLE_RATE_HZ - from) < 1e-3, `${word} at ${found.startS}`);
        assert.ok(Math.abs(found.endS * SAMPLE_RATE_HZ - from - tone) < 1e-3);
        const frame = Math.floor(from / FRAME_SAMPLES);
        assert.ok(frames[frame]!.words!.includes(found), `${word} is in the frame in which it begins`);
        from += tone + gap;
      }
    });
  }

  for (const gapS of [0, 0.1, 2, null])
    test(`lets visemes follow one another without a gap, with ${gapS} s between sounds`, () => {
      const sizes = [
        [700, 5_000, 4_800],
        [3_000, 3_000, 9_000],
        [2_500, 200, 2_000],
      ] as const;
      const mouths = sizes.map(([before, tone, after], index) => {
        const [first, ...others] = part(before, tone, after, `${index}`);
        const [fromS, toS, endS] = [before, before + tone, before + tone + after].map(
          (samples) => samples / SAMPLE_RATE_HZ,
        ) as [number, number, number];
        const visemes = [
          { name: "sil", startS: 0, endS: fromS },
          { name: `${index}`, startS: fromS, endS: toS },
          { name: "sil", startS: toS, endS },
        ];
        return [{ ...first!, mouth: { visemes, phonemes: visemes } }, ...others];
      });
      const { frames, samples } = join(mouths, gapS);
      const visemes = frames.flatMap(({ mouth }) => mouth?.visemes ?? []);
      let at = 0;
      for (const { startS, endS } of visemes) {
        assert.equal(startS, at);
        assert.ok(endS > startS);
        at = endS;
      }
      assert.ok(Math.abs(at - samples.length / SAMPLE_RATE_HZ) < 1e-9, `${at} is the end`);
      for (const { name, startS, endS } of visemes) {
        const [from, to] = [startS, endS].map((s) => Math.round(s * SAMPLE_RATE_HZ)) as [number, number];
        assert.ok(samples.slice(from, to).every((sample) => (sample === 0) === (name === "sil")));
      }
    });

  test("keeps the silence of its parts where no gap is given", () => {
    assert.deepEqual(runs(join(PARTS, null).samples), [100, 5_000, 5_500, 3_000, 5_000, 2_500, 9_000]);
  });

  test("passes sound on at once, and holds at most a second of silence", () => {
    const joiner = new FrameJoiner();
    const frames = part(0, FRAME_SAMPLES, 40 * FRAME_SAMPLES, "one");
    const passed = frames.map((frame) => [...joiner.push(frame)].length);
    assert.equal(passed[0], 1);
    assert.equal(
      passed.reduce((sum, each) => sum + each),
      frames.length - Math.ceil(SAMPLE_RATE_HZ / FRAME_SAMPLES),
    );
  });
});
