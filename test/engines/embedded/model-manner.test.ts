import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { SAMPLE_RATE_HZ } from "../../../src/audio/format.ts";
import { loudnessOf } from "../../../src/audio/loudness.ts";
import type { RequestedManner } from "../../../src/core/script.ts";
import type { SpeechModel } from "../../../src/core/speech-model.ts";
import { readManner } from "../../../src/serving/prepare/read-manner.ts";
import { LONG_TEXT, type ScriptParts, speakAll } from "../../core/scripts.ts";
import { hear, medianPitchHz, soundIn } from "./listening.ts";
import { openVoice } from "./open-voice.ts";

const requestedManner = (words: string): RequestedManner => readManner(words)!.asked;

describe("The embedded voice with instructions", () => {
  let model: SpeechModel;
  before(async () => {
    model = await openVoice();
  });
  after(() => model.close());

  const said = (manner: string | null, parts: ScriptParts = {}) =>
    hear(model, { text: LONG_TEXT, ...parts, ...(manner !== null && { manner: requestedManner(manner) }) });
  const loudness = (samples: Float32Array) => loudnessOf(samples, SAMPLE_RATE_HZ)!;

  for (const speaker of ["0", "1"]) {
    test(`changes pace, loudness and pitch as speaker ${speaker}`, async () => {
      const plain = await said(null, { speaker });
      const share = async (manner: string) => (await said(manner, { speaker })).length / plain.length;
      const [muchSlower, slower, faster] = [
        await share("much slower"),
        await share("slower"),
        await share("faster"),
      ];
      assert.ok(
        muchSlower > slower + 0.05 && slower > 1.08 && faster < 0.95,
        `${[muchSlower, slower, faster]}`,
      );

      const quieter = loudness(await said("quieter", { speaker })) - loudness(plain);
      const louder = loudness(await said("louder", { speaker })) - loudness(plain);
      assert.ok(Math.abs(quieter + 6) < 0.5, `${quieter} LU`);
      assert.ok(louder > 3 && louder < 4.5, `${louder} LU`);

      const semitones = async (manner: string) =>
        12 * Math.log2(medianPitchHz(await said(manner, { speaker })) / medianPitchHz(plain));
      const [higher, lower] = [await semitones("higher"), await semitones("lower")];
      assert.ok(higher > 1 && higher < 3 && lower < -1 && lower > -3, `${higher}, ${lower}`);
    });
  }

  test("changes no byte for instructions that it cannot follow, and repeats others", async () => {
    const plain = await said(null);
    assert.deepEqual(await said("Like a pirate."), plain);
    assert.deepEqual(await said("Not too fast."), plain);
    assert.deepEqual(await said("cheerful"), await said("cheerful"));
  });

  test("pauses longer when calm, and multiplies the rates", async () => {
    const longest = (samples: Float32Array) => Math.max(...soundIn(samples).pausesMs);
    assert.ok(longest(await said("calm")) > 1.1 * longest(await said(null)));
    const fast = { preset: { rate: 1.1 } };
    const both = (await said("faster", fast)).length;
    assert.ok(both < (await said("faster")).length && both < (await said(null, fast)).length);
  });

  // At a rate of the preset.
  for (const speaker of ["0", "1"]) {
    test(`keeps its pitch at any rate as speaker ${speaker}`, async () => {
      const at = (rate: number) => hear(model, { text: LONG_TEXT, speaker, preset: { rate } });
      const plain = await at(1);
      for (const rate of [0.5, 2]) {
        const samples = await at(rate);
        const semitones = 12 * Math.log2(medianPitchHz(samples) / medianPitchHz(plain));
        assert.ok(Math.abs(semitones) < 1.5, `${rate}: ${semitones} semitones`);
      }
    });
  }

  for (const temperature of [0, 1]) {
    test(`has the length of its rate at temperature ${temperature}`, async () => {
      for (const text of ["Yes.", "Wait: who, exactly? Me!", LONG_TEXT]) {
        const parts = { text, seed: BigInt(Math.round(10 * temperature)), delivery: { temperature } };
        const plain = (await hear(model, parts)).length;
        for (const rate of [0.5, 0.9, 1.25, 2]) {
          const samples = (await hear(model, { ...parts, preset: { rate } })).length;
          const share = (samples * rate) / plain;
          assert.ok(Math.abs(share - 1) < 0.01, `“${text}” at ${rate}: ${share}`);
        }
      }
    });
  }

  test("has the length of its rate in a manner with its own tempo", async () => {
    const manner = requestedManner("slower");
    const plain = (await hear(model, { text: LONG_TEXT, manner })).length;
    for (const rate of [0.7, 1.5]) {
      const samples = (await hear(model, { text: LONG_TEXT, manner, preset: { rate } })).length;
      assert.ok(Math.abs((samples * rate) / plain - 1) < 0.01, `${rate}: ${(samples * rate) / plain}`);
    }
  });

  test("reports words and visemes in order and within the audio at any rate", async () => {
    for (const rate of [0.5, 0.7, 1.25, 2]) {
      const { frames, report } = await speakAll(model, { text: LONG_TEXT, preset: { rate }, hasMouth: true });
      const lengthS = frames.reduce((sum, { samples }) => sum + samples.length, 0) / SAMPLE_RATE_HZ;
      const words = frames.flatMap(({ words = [] }) => words);
      assert.equal(words.length, LONG_TEXT.split(" ").length, `${rate}`);
      let before = 0;
      for (const { startS, endS } of words) {
        assert.ok(
          startS >= before && endS > startS && endS <= lengthS,
          `${rate}: ${startS} to ${endS} of ${lengthS} s`,
        );
        before = startS;
      }
      assert.equal(report.stop, "finished");
      const shapes = frames.flatMap(({ mouth }) => mouth?.visemes ?? []);
      assert.ok(shapes.every(({ startS, endS }) => endS > startS && endS <= lengthS + 1e-9));
    }
  });

  test("is cut at maxFrames, and reports it", async () => {
    const { frames, report } = await speakAll(model, {
      text: LONG_TEXT,
      preset: { rate: 0.5 },
      delivery: { maxFrames: 40 },
    });
    assert.deepEqual([frames.length, report.stop], [40, "length"]);
  });
});
