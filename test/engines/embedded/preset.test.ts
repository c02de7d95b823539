import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Delivery, Preset } from "../../../src/core/script.ts";
import type { SpeechModel } from "../../../src/core/speech-model.ts";
import { unusedKnobs } from "../../../src/engines/embedded/preset.ts";
import { bytesOf, speakAll } from "../../core/scripts.ts";
import { openVoice } from "./open-voice.ts";

let model: SpeechModel;
before(async () => {
  model = await openVoice();
});
after(() => model.close());

/** Values that differ from the base. */
const OTHERS: Delivery = {
  temperature: 1.5,
  acousticTemperature: 1.5,
  topK: 1,
  repetitionPenalty: 6,
  penaltyWindow: 80,
  maxFrames: 16,
  quality: "low",
};

const BASE: Partial<Delivery> = { temperature: 0.7, acousticTemperature: 0.2 };

for (const preset of [{}, { acoustics: false }] satisfies Preset[]) {
  test(`unusedKnobs lists what changes no byte with the preset ${JSON.stringify(preset)}`, async () => {
    const bytes = async (delivery: Partial<Delivery>) =>
      bytesOf((await speakAll(model, { text: "Rice is served in round bowls.", preset, delivery })).frames);
    const before = await bytes(BASE);
    const idle: string[] = [];
    for (const [name, value] of Object.entries(OTHERS)) {
      if ((await bytes({ ...BASE, [name]: value })).equals(before)) idle.push(name);
    }
    assert.deepEqual(idle.sort(), Object.keys(unusedKnobs(preset)).sort());
  });
}
