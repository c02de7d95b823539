import assert from "node:assert/strict";
import { test } from "node:test";
import { findModel, PUBLIC_MODELS } from "../../../src/models/public-models.ts";
import { parseBody } from "../../../src/serving/prepare/parse-body.ts";
import { speakDialogue } from "../../../src/serving/reply/speak-dialogue.ts";
import { createToneModel } from "../../core/tone-model.ts";

const prepared = (lines: readonly object[]) =>
  parseBody("dialogue", Buffer.from(JSON.stringify({ lines, response_format: "pcm" })), (id) =>
    findModel(PUBLIC_MODELS, id),
  );
const BASE = { preset: {} };

test("a dialogue lets the event loop turn between frames, since they are encoded in its thread", async () => {
  const model = await createToneModel();
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  let frames = 0;
  const lines = [{ voice: "0", text: "A line of some words." }];
  for await (const _ of speakDialogue(model, prepared(lines), BASE, new AbortController().signal))
    frames += 1;
  clearImmediate(next);
  assert.ok(frames > 10 && turns >= frames - 1, `${turns} turns for ${frames} frames`);
});

test("a dialogue keeps the sound of the lines before for a model that reads it, unless a line is long", async () => {
  const tone = await createToneModel();
  const heard: (number | null)[][] = [];
  const model: typeof tone = {
    speak(script, signal) {
      heard.push(script.history.map(({ audio }) => audio && Math.round(audio.durationS)));
      return tone.speak(script, signal);
    },
    close: () => tone.close(),
  };
  const texts = ["a".repeat(50), "b".repeat(1_000), "c"];
  const dialogue = prepared(texts.map((text) => ({ voice: "0", text })));
  const reading = { ...dialogue, model: { ...dialogue.model, reads: "everybody" as const } };
  for await (const _ of speakDialogue(model, reading, BASE, new AbortController().signal));
  assert.deepEqual(heard, [[], [3], [3, null]]);
});
