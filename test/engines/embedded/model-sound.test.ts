import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import { SAMPLE_RATE_HZ } from "../../../src/audio/format.ts";
import { joinSamples } from "../../../src/audio/pcm.ts";
import type { SpeechModel, SpokenWord } from "../../../src/core/speech-model.ts";
import { CountedText, SHORT_TEXT, scriptOf } from "../../core/scripts.ts";
import { hear, medianPitchHz, rms, shareAbove, soundIn } from "./listening.ts";
import { openVoice } from "./open-voice.ts";

describe("The sound of the embedded voice", () => {
  let model: SpeechModel;
  before(async () => {
    model = await openVoice();
  });
  after(() => model.close());

  const BEGINNINGS = (
    "She sells shoes.|Thanks a lot.|Hello there.|Peter came home.|Brown bread, please.|Good morning.|Apples are red.|" +
    "Only you know.|Eat this.|Five people came.|Zebras run.|Look at me.|My name is Ann.|Who is it?|Chess is fun.|No!"
  ).split("|");

  test("begins 5 to 40 ms into the first frame", async () => {
    for (const speaker of ["0", "1"]) {
      for (const text of BEGINNINGS) {
        const { onsetMs } = soundIn(await hear(model, { text, speaker }));
        assert.ok(onsetMs >= 5 && onsetMs <= 40, `${text} (speaker ${speaker}) begins at ${onsetMs} ms`);
      }
    }
  });

  test("ends with 0.2 s of silence", async () => {
    for (const text of BEGINNINGS.slice(0, 8)) {
      const { tailMs } = soundIn(await hear(model, { text }));
      assert.ok(tailMs >= 160 && tailMs <= 240, `${text} ends ${tailMs} ms early`);
    }
  });

  for (const [what, text, lowestMs, highestMs] of [
    ["full stop", "Rice is nice. We like rice.", 340, 460],
    ["question mark", "Is rice nice? We like rice.", 360, 480],
    ["dash and capital", "Rice is nice! We like rice.", 320, 440],
    ["ellipsis", "Rice is nice… We like rice.", 540, 660],
    ["paragraph", "Rice is nice.\n\nWe like rice.", 640, 760],
  ] as const) {
    test(`pauses for ${lowestMs} to ${highestMs} ms after a ${what}`, async () => {
      const { pausesMs } = soundIn(await hear(model, { text }));
      const longest = Math.max(...pausesMs);
      assert.ok(longest >= lowestMs && longest <= highestMs, `${longest} ms`);
    });
  }

  test("pauses alike for sentences in one piece or several", async () => {
    const whole = await hear(model, { text: "Rice is nice. We like rice." });
    const pieces = await hear(model, { text: new CountedText(["Rice is nice. ", "We like rice."]) });
    assert.deepEqual(pieces, whole);
  });

  test("starts, pauses and ends without a click", async () => {
    const samples = await hear(model, { text: "Apples are red. Eat them all. Good." });
    assert.ok(Math.abs(samples[0]!) < 1e-4 && Math.abs(samples.at(-1)!) < 1e-4);
    for (let at = 240; at + 240 < samples.length; at++) {
      const [jump, before, behind] = [
        Math.abs(samples[at]! - samples[at - 1]!),
        rms(samples.subarray(at - 240, at - 1)),
        rms(samples.subarray(at + 1, at + 240)),
      ];
      if (Math.min(before, behind) < 1e-4) assert.ok(jump < 0.004, `a jump of ${jump} at ${at}`);
    }
  });

  test("has a woman's pitch as speaker 0 and a man's as speaker 1", async () => {
    const text = "The birch canoe slid on the smooth planks. We were away a year ago.";
    const woman = medianPitchHz(await hear(model, { text, speaker: "0" }));
    const man = medianPitchHz(await hear(model, { text, speaker: "1" }));
    assert.ok(woman > 165 && woman < 240, `${woman} Hz`);
    assert.ok(man > 90 && man < 140, `${man} Hz`);
    assert.ok(Math.abs(man / woman - 0.62) < 0.05, `${man / woman}`);
  });

  test("is equally loud as both speakers", async () => {
    const [zero, one] = [rms(await hear(model, { speaker: "0" })), rms(await hear(model, { speaker: "1" }))];
    assert.ok(Math.abs(20 * Math.log10(one / zero)) < 1.5, `${zero} and ${one}`);
  });

  test("ends at 4 kHz for low quality, and at 7 kHz for medium", async () => {
    const heard = async (quality: "low" | "medium" | "high") =>
      hear(model, { text: "She sells sea shells.", delivery: { quality } });
    const [low, medium, high] = [await heard("low"), await heard("medium"), await heard("high")];
    assert.equal(low.length, high.length);
    assert.ok(
      shareAbove(low, 4_200) < 1e-5 && shareAbove(low, 3_000) > 1e-4,
      `low ${shareAbove(low, 4_200)}`,
    );
    assert.ok(shareAbove(medium, 7_200) < 1e-5 && shareAbove(medium, 5_000) > 1e-3);
    assert.ok(shareAbove(high, 7_200) > 0.01, `high ${shareAbove(high, 7_200)}`);
  });

  test("contains unknown words, amounts of money and very long sentences", async () => {
    const clause = "and then the careful walker looked around the corner for a while, ";
    for (const text of ["Zqxovian.", "$12.50.", `First ${clause.repeat(9)}home.`]) {
      const samples = await hear(model, { text });
      assert.ok(rms(samples) > 0.02, text);
    }
  });

  test("varies more at a higher temperature", async () => {
    const spread = async (temperature: number) => {
      const lengths: number[] = [];
      for (let seed = 1n; seed <= 6n; seed++) {
        const samples = await hear(model, { text: SHORT_TEXT, seed, delivery: { temperature } });
        lengths.push(samples.length);
      }
      const mean = lengths.reduce((sum, length) => sum + length) / lengths.length;
      return (
        Math.sqrt(lengths.reduce((sum, length) => sum + (length - mean) ** 2, 0) / lengths.length) / mean
      );
    };
    const [none, some, much] = [await spread(0), await spread(0.5), await spread(1.5)];
    assert.equal(none, 0);
    assert.ok(some > 0.005 && much > 1.5 * some && much < 0.2, `${some}, ${much}`);
  });

  test("follows the preset's liveliness and acoustics", async () => {
    const delivery = { temperature: 1, acousticTemperature: 1.5 };
    const still = await hear(model, { delivery, preset: { liveliness: 0, acoustics: false } });
    assert.deepEqual(still, await hear(model, {}));
    const drifting = await hear(model, { delivery: { acousticTemperature: 1.5 } });
    assert.ok(Math.abs(drifting.length - still.length) <= 600, `${drifting.length} and ${still.length}`);
    assert.notDeepEqual(drifting, still);
    assert.deepEqual(await hear(model, { delivery: { acousticTemperature: 1.5 } }), drifting);
  });
});

describe("The word times of the embedded voice", () => {
  let model: SpeechModel;
  before(async () => {
    model = await openVoice();
  });
  after(() => model.close());

  async function said(text: string, speaker: "0" | "1") {
    const frames: Float32Array[] = [];
    const words: SpokenWord[] = [];
    for await (const frame of model.speak(scriptOf({ text, speaker }), new AbortController().signal)) {
      frames.push(frame.samples);
      words.push(...(frame.words ?? []));
    }
    return { samples: joinSamples(frames), words };
  }

  it("match the hiss of an s after a vowel to 30 ms", async () => {
    for (const speaker of ["0", "1"] as const) {
      const { samples, words } = await said("We saw two boats near the sea soon grow silent.", speaker);
      const hissing = words.filter(({ word }) => /^s(?!h)/.test(word));
      assert.equal(hissing.length, 4);
      for (const { word, startS } of hissing) {
        const offMs = 1_000 * (hissNear(samples, startS) - startS);
        assert.ok(Math.abs(offMs) <= 30, `${word} by speaker ${speaker}: the hiss begins ${offMs} ms later`);
      }
    }
  });

  it("match the sound after a pause to 30 ms", async () => {
    for (const speaker of ["0", "1"] as const) {
      const { samples, words } = await said("Tea, please. Sit down. Come in.", speaker);
      assert.equal(words.length, 6);
      for (const { word, startS, endS } of words.filter(({ word }) => /^[A-Z]/.test(word))) {
        const offMs = 1_000 * (soundNear(samples, startS) - startS);
        assert.ok(Math.abs(offMs) <= 30, `${word} by speaker ${speaker}: it sounds ${offMs} ms later`);
        assert.ok(level(samples, endS - 0.05) > AUDIBLE, `${word} by speaker ${speaker} sounds to its end`);
      }
    }
  });
});

/** Finds the time within 120 ms at which the sound becomes hiss and stays so for 30 ms. */
function hissNear(samples: Float32Array, nearS: number): number {
  const isHiss = (atS: number) => level(samples, atS) > AUDIBLE && hiss(samples, atS) >= 0.5;
  let fromS = nearS - 0.12;
  while (isHiss(fromS) && fromS < nearS) fromS += STEP_S;
  for (let atS = fromS; atS < nearS + 0.12; atS += STEP_S)
    if (Array.from({ length: 24 }, (_, step) => atS + step * STEP_S).every(isHiss)) return atS;
  return Number.NaN;
}

/** Finds the time within 120 ms at which the sound begins. */
function soundNear(samples: Float32Array, nearS: number): number {
  for (let atS = Math.max(0, nearS - 0.12); atS < nearS + 0.12; atS += STEP_S)
    if (level(samples, atS) > AUDIBLE) return atS;
  return Number.NaN;
}

/** The energy share of the second difference, which emphasises high frequencies, in 10 ms. */
function hiss(samples: Float32Array, atS: number): number {
  let [high, all] = [0, 1e-9];
  const middle = Math.round(atS * SAMPLE_RATE_HZ);
  for (let i = Math.max(2, middle - 120); i < Math.min(samples.length, middle + 120); i++) {
    high += (samples[i]! - 2 * samples[i - 1]! + samples[i - 2]!) ** 2;
    all += samples[i]! ** 2;
  }
  return high / all;
}

/** RMS of the 5 ms around a time. */
function level(samples: Float32Array, atS: number): number {
  const middle = Math.round(atS * SAMPLE_RATE_HZ);
  const around = samples.subarray(Math.max(0, middle - 60), middle + 60);
  return Math.sqrt(around.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, around.length));
}

const STEP_S = 0.00125;
/** 30 dB below the loudest. */
const AUDIBLE = 0.003;
