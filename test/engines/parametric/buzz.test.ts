import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { buzzIn } from "../../../bench/sound/buzz.ts";
import { SAMPLE_RATE_HZ } from "../../../src/audio/format.ts";
import { createParametricModel } from "../../../src/engines/parametric/model.ts";
import type { SpeechModel } from "../../../src/model/speech-model.ts";
import { noise } from "./listen/signals.ts";
import { syntheticVoice } from "./listen/synthetic-voice.ts";
import { hear } from "./listening.ts";
import { tables, VOICE_DIR } from "./voice.ts";

const SENTENCES = [
  "A cup of sugar makes sweet fudge.",
  "The salt breeze came across from the sea.",
  "It is easy to tell the depth of a well.",
];

describe("Above 10 kHz", () => {
  let model: SpeechModel;
  before(async () => {
    model = await createParametricModel({ voiceDir: VOICE_DIR, tables: await tables() });
  });
  after(() => model.close());

  for (const speaker of ["0", "1"]) {
    test(`speaker ${speaker} does not buzz with the hops`, async () => {
      const spoken = [];
      for (const text of SENTENCES) spoken.push(await hear(model, { text, speaker }));
      assert.ok(buzzIn(spoken) <= 2, `${buzzIn(spoken)}`);
    });
  }

  test("nor does a voice whose tract follows somebody's", async () => {
    const samples = syntheticVoice({ pitchHz: 105, tract: 0.82, durationS: 8 });
    const audio = { samples, sampleRateHz: SAMPLE_RATE_HZ, durationS: 8, digest: "a man" };
    const history = [{ speaker: "0", text: null, audio }];
    const spoken = [];
    for (const text of SENTENCES) spoken.push(await hear(model, { text, history }));
    assert.ok(buzzIn(spoken) <= 2, `${buzzIn(spoken)}`);
  });
});

test("A buzz is told from noise of any loudness", () => {
  const hiss = noise(48_000, 4).map((sample, index) => sample * (index % 9_000 < 3_000 ? 0.2 : 0.002));
  assert.ok(buzzIn([hiss]) < 1.6, `${buzzIn([hiss])}`);
  const buzzing = hiss.map((sample, index) => sample * (index % 300 < 30 ? 4 : 1));
  assert.ok(buzzIn([buzzing]) > 6, `${buzzIn([buzzing])}`);
});
