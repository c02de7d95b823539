import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { SpeechModel } from "../../../src/core/speech-model.ts";
import { type OwnedNetwork, openNetwork } from "../../../src/engines/embedded/network.ts";
import { planStyleOf } from "../../../src/engines/embedded/sentence.ts";
import { createVoices } from "../../../src/engines/embedded/speakers.ts";
import { medianPitchHz } from "../../../src/engines/prosody/delivery.ts";
import { type Rhythm, rhythmOf } from "../../../src/engines/prosody/intonation/rhythm.ts";
import type { Plan } from "../../../src/engines/prosody/plan.ts";
import { planSentence } from "../../../src/engines/prosody/plan-sentence.ts";
import { openTextReader, type TextReader } from "../../../src/engines/prosody/read-text.ts";
import { wordCount } from "../../../src/engines/prosody/spoken-words.ts";
import { EVEN } from "./even-rhythm.ts";
import { hear, soundIn } from "./listening.ts";
import { openVoice } from "./open-voice.ts";
import { tables, VOICE_DIR } from "./voice.ts";

describe("The intonation of the embedded voice", () => {
  let network: OwnedNetwork;
  let reader: TextReader;
  before(async () => {
    network = await openNetwork(VOICE_DIR);
    reader = await openTextReader(VOICE_DIR, { tables: await tables() });
  });
  after(async () => {
    await network.close();
    await reader.close();
  });

  async function planned(text: string, rhythm: Rhythm | null, speaker = "0", temperature = 0): Promise<Plan> {
    const [{ ids } = { ids: [] }] = await reader.read(text);
    const words = wordCount(ids);
    const place = {
      text,
      words,
      wordsInside: words,
      wordsBefore: 0,
      wordsInEarlierSentences: 0,
      endsSentence: true,
    };
    const own = rhythmOf({ ...place, startsParagraph: false, endsParagraph: false }, "plain");
    const manner = {
      speaker: createVoices().get(speaker)!,
      delivery: { temperature, acousticTemperature: 0, quality: "high" as const },
      preset: {},
      seed: 7n,
    };
    return planSentence(network, { ids, rhythm: rhythm ?? own }, planStyleOf(manner), 0);
  }

  test("rises by 3 to 5 semitones at the end of a yes/no question, at any temperature", async () => {
    for (const text of [
      "Do you want some tea?",
      "Is it raining?",
      "You went there alone?",
      "Was the film good?",
    ])
      for (const speaker of ["0", "1"])
        for (const temperature of [0, 1.5]) {
          const rise = riseAtEnd(await planned(text, null, speaker, temperature));
          assert.ok(rise >= 2.8 && rise <= 5.2, `${text} (speaker ${speaker}) rises by ${rise}`);
        }
  });

  test("falls at the end of an open question, a choice and a list", async () => {
    for (const text of ["How does it work?", "Tea or coffee?", "Apples, pears and plums."]) {
      const rise = riseAtEnd(await planned(text, null));
      assert.ok(rise < -2, `${text} moves by ${rise}`);
    }
  });

  test("stays finite in very short and unvoiced questions", async () => {
    for (const text of ["No?", "Hm?", "Shh?", "Pst?!", "5?"]) {
      const plan = await planned(text, null);
      assert.ok(
        plan.pitchHz.every((hz) => Number.isFinite(hz) && hz <= 500),
        text,
      );
    }
  });

  test("rises on the word before an or, and on no later one", async () => {
    const text = "Is it Monday or Tuesday?";
    const [own, lifted] = [await planned(text, EVEN), await planned(text, null)];
    const moved = own.pitchHz.map((hz, frame) => lifted.pitchHz[frame]! / hz);
    const first = moved.findIndex((ratio) => ratio > 1.01);
    const last = moved.findLastIndex((ratio) => ratio > 1.01);
    assert.ok(first > 0 && last - first < 26, `${first} to ${last}`);
    assert.ok(12 * Math.log2(Math.max(...moved)) > 2);
    assert.ok(moved.every((ratio) => ratio > 0.999));
  });

  test("is higher, wider and faster for an exclamation", async () => {
    const text = "Congratulations on the new job!";
    const [own, lively] = [await planned(text, EVEN), await planned(text, null)];
    assert.ok(medianPitchHz(lively.pitchHz)! > 1.02 * medianPitchHz(own.pitchHz)!);
    assert.ok(Math.max(...lively.pitchHz) > 1.08 * Math.max(...own.pitchHz));
    assert.ok(lively.frames < own.frames && lively.frames > 0.92 * own.frames);
  });
});

describe("The rhythm of the embedded voice", () => {
  let model: SpeechModel;
  before(async () => {
    model = await openVoice();
  });
  after(() => model.close());

  const after1 = (text: string) => [{ speaker: "1", text, audio: null }];

  test("is faster, with shorter pauses, in a short reply to a short turn", async () => {
    const text = "Rice is nice. We like rice.";
    const plain = await hear(model, { text });
    const brisk = await hear(model, { text, history: after1("And rice?") });
    assert.ok(brisk.length < 0.97 * plain.length, `${brisk.length} of ${plain.length}`);
    const longest = (samples: Float32Array) => Math.max(...soundIn(samples).pausesMs);
    assert.ok(longest(brisk) < longest(plain) - 60, `${longest(brisk)} and ${longest(plain)} ms`);
  });

  test("is slower at the beginning of a reply to a long turn", async () => {
    const text = "The birch canoe slid on the smooth planks.";
    const plain = await hear(model, { text });
    const calm = await hear(model, { text, history: after1("We went there. ".repeat(14)) });
    assert.ok(calm.length > 1.01 * plain.length && calm.length < 1.06 * plain.length);
  });

  test("is unchanged after a turn without text", async () => {
    const text = "Rice is nice.";
    const clip = { samples: new Float32Array(2_400), sampleRateHz: 24_000, durationS: 0.1, digest: "a clip" };
    const history = [{ speaker: "1", text: null, audio: clip }];
    assert.deepEqual(await hear(model, { text, history }), await hear(model, { text }));
  });
});

/** Semitones over the last 300 ms that are voiced. */
function riseAtEnd({ pitchHz, energy }: Plan): number {
  const isSung = (frame: number) => pitchHz[frame]! > 40 && energy[frame]! >= 2;
  let end = pitchHz.length - 1;
  while (!isSung(end)) end--;
  let from = end - 24;
  while (!(pitchHz[from]! > 40)) from++;
  return 12 * Math.log2(pitchHz[end]! / pitchHz[from]!);
}
