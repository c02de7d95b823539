import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { SAMPLE_RATE_HZ } from "../../../src/audio/format.ts";
import { joinSamples } from "../../../src/audio/pcm.ts";
import type { SpeechModel, SpokenWord } from "../../../src/core/speech-model.ts";
import { scriptOf } from "../../core/scripts.ts";
import { openVoice } from "./open-voice.ts";

describe("the times of words, in the sound", () => {
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

  it("a word that begins with an s behind a vowel begins where the hiss does, to 30 ms", async () => {
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

  it("what follows a pause begins where the sound does, and ends before the next one", async () => {
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

/** Seconds at which, within 120 ms of a time, the sound becomes hiss for the first time, having been none, and stays so for 30 ms. */
function hissNear(samples: Float32Array, nearS: number): number {
  const isHiss = (atS: number) => level(samples, atS) > AUDIBLE && hiss(samples, atS) >= 0.5;
  let fromS = nearS - 0.12;
  while (isHiss(fromS) && fromS < nearS) fromS += STEP_S;
  for (let atS = fromS; atS < nearS + 0.12; atS += STEP_S)
    if (Array.from({ length: 24 }, (_, step) => atS + step * STEP_S).every(isHiss)) return atS;
  return Number.NaN;
}

/** Seconds at which, within 120 ms of a time, it is heard for the first time. */
function soundNear(samples: Float32Array, nearS: number): number {
  for (let atS = Math.max(0, nearS - 0.12); atS < nearS + 0.12; atS += STEP_S)
    if (level(samples, atS) > AUDIBLE) return atS;
  return Number.NaN;
}

/** How much the second difference, which raises what is high, has of the energy of the 10 ms around a time. */
function hiss(samples: Float32Array, atS: number): number {
  let [high, all] = [0, 1e-9];
  const middle = Math.round(atS * SAMPLE_RATE_HZ);
  for (let i = Math.max(2, middle - 120); i < Math.min(samples.length, middle + 120); i++) {
    high += (samples[i]! - 2 * samples[i - 1]! + samples[i - 2]!) ** 2;
    all += samples[i]! ** 2;
  }
  return high / all;
}

/** The root mean square of the 5 ms around a time. */
function level(samples: Float32Array, atS: number): number {
  const middle = Math.round(atS * SAMPLE_RATE_HZ);
  const around = samples.subarray(Math.max(0, middle - 60), middle + 60);
  return Math.sqrt(around.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, around.length));
}

const STEP_S = 0.00125;
/** 30 dB below the loudest. */
const AUDIBLE = 0.003;
