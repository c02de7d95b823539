import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { clicksIn } from "../../../bench/sound/clicks.ts";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../../src/audio/format.ts";
import { createParametricModel } from "../../../src/engines/parametric/model.ts";
import type { Clip, Turn } from "../../../src/model/conversation.ts";
import type { SpeechModel } from "../../../src/model/speech-model.ts";
import { speakAll } from "../../model/scripts.ts";
import { hear } from "./listening.ts";
import { tables, VOICE_DIR } from "./voice.ts";

const TEXT = "Hi. The birch canoe slid on the smooth planks. Glue the sheet to the dark blue background.";
const GREETING: Turn = { speaker: "1", text: "Hello there.", audio: null };

describe("The frames of a reply", () => {
  let model: SpeechModel;
  let man: Clip;
  before(async () => {
    model = await createParametricModel({ voiceDir: VOICE_DIR, tables: await tables() });
    const said =
      "We met at the harbour, well before sunrise. Nobody had slept much. The boats were late again.";
    const samples = (await hear(model, { text: said, speaker: "1" })).map((sample) => 1.7 * sample);
    const durationS = samples.length / SAMPLE_RATE_HZ;
    man = { samples, sampleRateHz: SAMPLE_RATE_HZ, durationS, digest: "a loud man" };
  });
  after(() => model.close());

  for (const [which, history] of [
    ["a greeting", () => [GREETING]],
    ["somebody loud, whom the voice comes nearer to", () => [{ ...GREETING, audio: man }]],
    ["the speaker's own clip, which it follows", () => [{ speaker: "0", text: null, audio: man }]],
  ] as const) {
    test(`join without a click after ${which}`, async () => {
      const { frames } = await speakAll(model, { text: TEXT, history: history() });
      assert.equal(clicksIn(frames.map(({ samples }) => samples)), 0);
    });
  }
});

test("A sample that is not what its neighbours let expect is found where frames join, and nowhere else", () => {
  const tone = (index: number) => 0.3 * Math.sin((2 * Math.PI * 220 * index) / SAMPLE_RATE_HZ);
  const frames = [0, 1, 2, 3].map((frame) =>
    Float32Array.from({ length: FRAME_SAMPLES }, (_, i) => tone(frame * FRAME_SAMPLES + i)),
  );
  assert.equal(clicksIn(frames), 0);
  frames[1]![FRAME_SAMPLES - 1] = 0;
  frames[2]![FRAME_SAMPLES - 1]! += 0.02;
  frames[2]![700]! += 0.02;
  assert.equal(clicksIn(frames), 2);
});
