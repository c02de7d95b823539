import assert from "node:assert/strict";
import { test } from "node:test";
import { FRAME_SAMPLES } from "../../src/audio/format.ts";
import { SpeechFailedError } from "../../src/core/speech-model.ts";
import { drain, LONG_TEXT, never, scriptOf, speakAll } from "./scripts.ts";
import { speechModelConformance } from "./speech-model-conformance.ts";
import { CHARACTER_SAMPLES, createToneModel } from "./tone-model.ts";

speechModelConformance("the tone model", () => createToneModel());

test("a tone is as long as its text", async () => {
  const model = await createToneModel();
  const { frames } = await speakAll(model, { text: "Ünlü 𝒳." });
  const samples = frames.reduce((sum, frame) => sum + frame.samples.length, 0);
  assert.equal(samples, 7 * CHARACTER_SAMPLES);
  await model.close();
});

test("a failing tone model yields the frames before the failure", async () => {
  const model = await createToneModel({ failAtFrame: 3 });
  const speech = model.speak(scriptOf({ text: LONG_TEXT }), never());
  for (let frame = 0; frame < 3; frame++) assert.equal((await speech.next()).done, false);
  await assert.rejects(speech.next(), SpeechFailedError);
  await model.close();
});

test("computes no frame before it is requested", async () => {
  let computed = 0;
  const model = await createToneModel({
    beforeFrame: () => {
      computed += 1;
    },
  });
  const speech = model.speak(scriptOf({ text: LONG_TEXT }), never());
  await speech.next();
  await speech.next();
  assert.equal(computed, 2);
  const { frames } = await drain(speech);
  assert.equal(computed, frames.length + 2);
  assert.ok(frames.every(({ samples }) => samples.length <= FRAME_SAMPLES));
  await model.close();
});
