import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { loudestIn, THUMP_DB } from "../../../bench/sound/thumps.ts";
import { createParametricModel } from "../../../src/engines/parametric/model.ts";
import type { Clip } from "../../../src/model/conversation.ts";
import type { SpeechModel } from "../../../src/model/speech-model.ts";
import { noise } from "./listen/signals.ts";
import { hear } from "./listening.ts";
import { tables, VOICE_DIR } from "./voice.ts";

/** In each of these a voice that is lower than the network's own once had 25 ms that were far too loud. */
const SENTENCES = [
  "Everybody went home tired!",
  "Read verse out loud for pleasure.",
  "A cup of sugar makes sweet fudge.",
  "The birch canoe slid on the smooth planks.",
  "The boy was there when the sun rose.",
];

describe("A voice that is lower than the network's own", () => {
  let model: SpeechModel;
  let man: Clip;
  before(async () => {
    model = await createParametricModel({ voiceDir: VOICE_DIR, tables: await tables() });
    const said =
      "We met at the harbour, well before sunrise. Nobody had slept much. The boats were late again.";
    const samples = await hear(model, { text: said, speaker: "1" });
    // Played slowly, a man with a deeper voice.
    man = { samples, sampleRateHz: 21_000, durationS: samples.length / 21_000, digest: "a man" };
  });
  after(() => model.close());

  test("has no moment that is far louder than the rest of its sentence", async () => {
    for (const text of SENTENCES) assertEven(text, await hear(model, { text, speaker: "1" }));
  });

  for (const follows of ["pitch", "all"]) {
    test(`has none either where it follows a man: ${follows}`, async () => {
      const history = [{ speaker: "0", text: null, audio: man }];
      for (const text of SENTENCES) {
        assertEven(text, await hear(model, { text, history, preset: { follows } }));
      }
    });
  }
});

test("A thump is told from a sound that is as loud as others", () => {
  const even = noise(24_000, 3).map((sample) => 0.1 * sample);
  assert.ok(loudestIn(even).overDb < 2);
  const uneven = even.map((sample, index) => (index > 9_600 && index < 10_200 ? 8 * sample : sample));
  const { overDb, atS } = loudestIn(uneven);
  assert.ok(overDb > 12 && Math.abs(atS - 0.4) < 0.02, `${overDb} dB at ${atS} s`);
});

function assertEven(text: string, samples: Float32Array): void {
  const { overDb, atS } = loudestIn(samples);
  assert.ok(overDb <= THUMP_DB, `${overDb.toFixed(1)} dB over the rest at ${atS.toFixed(2)} s of "${text}"`);
}
