import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Turn } from "../../../../src/core/conversation.ts";
import { ConversationError, type SpeechModel } from "../../../../src/core/speech-model.ts";
import { CheckpointError, OptionError } from "../../../../src/engines/codec-lm/fields.ts";
import { bytesOf, type ScriptParts, speakAll } from "../../../core/scripts.ts";
import { speechModelConformance } from "../../../core/speech-model-conformance.ts";
import { CLIPS, endingModel, tinyModel } from "./tiny.ts";
import { voiceClip } from "./voice-clip.ts";

const TEXT = "Rice is often served.";
const SHORT = { maxFrames: 16 };

function heard(speaker: string, pitchHz: number, text: string | null): Turn {
  const samples = voiceClip(pitchHz, 1);
  return { speaker, text, audio: { samples, sampleRateHz: 24_000, durationS: 1, digest: `${pitchHz}` } };
}

for (const kind of ["csm", "custom", "base"] as const) {
  describe(`A tiny checkpoint (${kind})`, () => {
    let model: SpeechModel;
    before(async () => {
      model = await tinyModel(kind, kind === "base" ? { voices: CLIPS } : {});
    });
    after(() => model.close());

    const bytes = async (parts: ScriptParts = {}) =>
      bytesOf((await speakAll(model, { text: TEXT, ...parts })).frames);

    test("uses each parameter, and repeats at temperature 0", async () => {
      const drawn = { ...SHORT, temperature: 1, acousticTemperature: 1 };
      const plain = await bytes({ delivery: drawn });
      assert.deepEqual(await bytes({ delivery: drawn }), plain);
      for (const other of [
        { temperature: 0 },
        { acousticTemperature: 0 },
        { topK: 2 },
        { repetitionPenalty: 6 },
        { repetitionPenalty: 6, penaltyWindow: 80 },
        { quality: "low" },
        { quality: "medium" },
      ] as const) {
        assert.notDeepEqual(await bytes({ delivery: { ...drawn, ...other } }), plain, JSON.stringify(other));
      }
      const likeliest = { ...SHORT, temperature: 0, acousticTemperature: 0 };
      const first = await bytes({ delivery: likeliest, seed: 1n });
      assert.deepEqual(await bytes({ delivery: likeliest, seed: 2n }), first);
    });

    test("speaks text without Latin letters", async () => {
      for (const text of ["今天天气很好。我们去公园吧！", "Привет, мир 🎉", "٤٢", "x"]) {
        const { frames, report } = await speakAll(model, { text, delivery: { maxFrames: 24 } });
        assert.ok(frames.length > 0, text);
        assert.ok(text.startsWith(report.spoken), text);
      }
    });
  });
}

describe("A tiny CSM speech model", () => {
  test("reads all turns, and the label's clip where its speaker has no audio", async () => {
    const voices = { "0": { clip: { samples: voiceClip(220), text: "Yes." } } };
    const [model, other] = [await tinyModel("csm", { voices }), await tinyModel("csm")];
    const delivery = { ...SHORT, temperature: 1, acousticTemperature: 1 };
    const written: Turn[] = [{ speaker: "1", text: "Hello?", audio: null }];
    const spoken = [...written, heard("0", 300, "It is me.")];
    const by = async (of: SpeechModel, history: readonly Turn[]) =>
      await speakAll(of, { text: TEXT, history, delivery });
    assert.notDeepEqual(
      bytesOf((await by(model, written)).frames),
      bytesOf((await by(other, written)).frames),
    );
    const [heard0, heard1] = [await by(model, spoken), await by(other, spoken)];
    assert.deepEqual(bytesOf(heard0.frames), bytesOf(heard1.frames));
    assert.deepEqual(heard0.report.prompt, { turns: [0, 1], heard: [1], forgotten: [], cautions: [] });
    assert.deepEqual((await by(model, written)).report.prompt?.turns, [0]);
    await Promise.all([model.close(), other.close()]);
  });

  test("rejects presets, languages and instructions", async () => {
    const preset = tinyModel("csm", { voices: { "0": { preset: "ryan" } } });
    await assert.rejects(preset, /voices\.0.*no preset "ryan"/);
    await assert.rejects(tinyModel("csm", { language: "english" }), /CSM has no option language/);
    await assert.rejects(tinyModel("csm", { instruct: "Slowly." }), OptionError);
    await assert.rejects(tinyModel("csm", { folder: "/nowhere" }), CheckpointError);
  });
});

describe("A tiny Qwen3-TTS speech model", () => {
  test("takes a known language and an instruction", async () => {
    const bytes = async (options: Parameters<typeof tinyModel>[1]) => {
      const model = await tinyModel("custom", options);
      const drawn = { ...SHORT, temperature: 1, acousticTemperature: 1 };
      const { frames } = await speakAll(model, { text: TEXT, delivery: drawn });
      await model.close();
      return bytesOf(frames);
    };
    const plain = await bytes({});
    assert.notDeepEqual(await bytes({ language: "German" }), plain);
    assert.notDeepEqual(await bytes({ instruct: "Speak slowly and sadly." }), plain);
    await assert.rejects(bytes({ language: "klingon" }), /language klingon is not one of this checkpoint's/);
  });

  test("follows the speaker's clip, and requires one", async () => {
    const model = await tinyModel("base", { language: "english" });
    await assert.rejects(speakAll(model, { text: TEXT }), ConversationError);
    const history = [heard("1", 300, null), heard("0", 120, "These are its words.")];
    const { frames } = await speakAll(model, { text: TEXT, history, delivery: SHORT });
    assert.ok(frames.length > 0);
    await model.close();
    await assert.rejects(tinyModel("base", { instruct: "Slowly." }), /neither speaker nor instruct/);
  });
});

// Tiny models have no word times.
speechModelConformance("a tiny CSM", () => endingModel("csm"), ["tellsWords"]);
// Most of the tiny presets sound alike.
const voices = { "0": { preset: "serena" }, "1": { preset: "ono_anna" } };
speechModelConformance("a tiny Qwen3-TTS with presets", () => endingModel("custom", { voices }), [
  "tellsWords",
]);
speechModelConformance("a tiny Qwen3-TTS that follows clips", () => endingModel("base", { voices: CLIPS }), [
  "tellsWords",
]);
