import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { SpeechModel } from "../../../src/core/speech-model.ts";
import { lengthenMarkPauses, markPauseS } from "../../../src/engines/prosody/pauses.ts";
import type { Plan } from "../../../src/engines/prosody/plan.ts";
import { hear, soundIn } from "../embedded/listening.ts";
import { openVoice } from "../embedded/open-voice.ts";

const HALVES = [
  ["I wanted to call you", "but it was late already."],
  ["He told me the truth", "at least most of it."],
] as const;

describe("Pauses within a sentence", () => {
  let model: SpeechModel;
  before(async () => {
    model = await openVoice();
  });
  after(() => model.close());

  for (const mark of [";", ":", "—"]) {
    test(`have the length of "${mark}"`, async () => {
      for (const [begin, end] of HALVES) {
        for (const speaker of ["0", "1"]) {
          const text = `${begin}${mark}${mark === "—" ? "" : " "}${end}`;
          const { pausesMs } = soundIn(await hear(model, { text, speaker }));
          const pauseS = Math.max(...pausesMs) / 1_000;
          const off = pauseS / markPauseS(mark);
          assert.ok(off > 0.9 && off < 1.25, `${pauseS} s in "${text}"`);
        }
      }
    });
  }
});

describe("lengthenMarkPauses", () => {
  const SOUND = 7;
  const SILENCE = -6;
  /** A word, a mark of two silent steps, a space, a word, and the mark again. */
  const plan: Plan = {
    ids: [0, 50, 1, 16, 51, 1, 0],
    steps: Int32Array.from([1, 3, 2, 1, 3, 1, 1]),
    owner: Int32Array.from([0, 1, 1, 1, 2, 2, 3, 4, 4, 4, 5, 6]),
    frames: 24,
    decoderEncoding: new Float32Array(7 * 128),
    energy: Float32Array.from({ length: 24 }, (_, at) =>
      (at >= 8 && at < 12) || at < 2 || at >= 20 ? SILENCE : SOUND,
    ),
    pitchHz: new Float32Array(24).fill(180),
  };

  test("inserts whole steps of silence into silence between words", () => {
    const wider = lengthenMarkPauses(plan, [1, 1, 1, 1, 1, 1, 1]);
    const added = Math.round((markPauseS(";") - 0.05) / 0.025);
    assert.deepEqual([...wider.steps], [1, 3, 2 + added, 1, 3, 1, 1]);
    assert.equal(wider.frames, 24 + 2 * added);
    assert.equal(wider.energy.length, wider.frames);
    assert.equal(wider.pitchHz.length, wider.frames);
    assert.ok(wider.energy.subarray(8, 12 + 2 * added).every((energy) => energy === SILENCE));
    assert.ok(wider.pitchHz.subarray(8, 8 + 2 * added).every((hz) => hz === 0));
    assert.deepEqual(wider.energy.subarray(12 + 2 * added), plan.energy.subarray(12));
  });

  test("scales with the factor, and leaves long pauses and other marks alone", () => {
    const factors = [1, 1, 1.5, 1, 1, 1, 1];
    assert.ok(
      lengthenMarkPauses(plan, factors).frames > lengthenMarkPauses(plan, [1, 1, 1, 1, 1, 1, 1]).frames + 8,
    );
    assert.equal(lengthenMarkPauses(plan, [1, 1, 0.1, 1, 1, 1, 1]), plan);
    const comma = { ...plan, ids: [0, 50, 3, 16, 51, 1, 0] };
    assert.equal(lengthenMarkPauses(comma, [1, 1, 1, 1, 1, 1, 1]), comma);
  });
});
