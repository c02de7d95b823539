import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { wordErrors } from "../../../bench/word-errors.ts";
import { clipSource } from "../../../src/core/audio-source.ts";
import type { Clip } from "../../../src/core/conversation.ts";
import type { Recogniser } from "../../../src/core/recogniser.ts";
import type { SpeechModel } from "../../../src/core/speech-model.ts";
import { openWhisper } from "../../../src/recognition/whisper/open-whisper.ts";
import { openEmbeddedVoice } from "../../../src/server/voices/embedded-voice.ts";
import { scriptOf } from "../../core/scripts.ts";
import { PLAIN, recogniserConformance } from "../conformance.ts";
import { testWhisper } from "./weights.ts";

const TEXT = "Rice is often served in round bowls. The juice of lemons makes fine punch.";

const LONG_TEXT =
  "A pot of tea helps to pass the evening. The soft cushion broke the fall of the man. The girl at the booth sold " +
  "fifty bonds. Hoist the load to your left shoulder. Take the winding path to reach the lake. The wide road " +
  "shimmered in the hot sun. The lazy cow lay in the cool grass. Lift the square stone over the fence. The rope will " +
  "bind the seven books at once. Read verse out loud for pleasure. The boss ran the show with a watchful eye. The " +
  "tiny girl took off her hat. The cup cracked and spilled its contents. Paste can cleanse the most dirty brass. The " +
  "heart beat strongly and with firm strokes.";

const never = new AbortController().signal;

const { folder, missing } = await testWhisper();

if (missing !== false) {
  test("Whisper base", { skip: missing }, () => {});
} else {
  const voice = await openEmbeddedVoice({ threads: 1 });
  after(() => voice.close());
  const speech = spoken(voice, TEXT);
  recogniserConformance("Whisper base", () => openWhisper(folder), {
    speech: async () => ({ clip: await speech, words: TEXT.toLowerCase().match(/\p{L}+/gu)! }),
  });

  describe("Whisper base", () => {
    let recogniser: Recogniser;
    before(async () => {
      recogniser = await openWhisper(folder);
    });
    after(() => recogniser.close());

    test("transcribes more than 30 s, cut at pauses", async () => {
      const clip = await spoken(voice, LONG_TEXT);
      assert.ok(clip.durationS > 31, `${clip.durationS} s`);
      const {
        text,
        segments,
        transcribedS: heardS,
        language,
      } = await recogniser.recognise(clipSource(clip), PLAIN, never);
      const { errors, words } = wordErrors(LONG_TEXT, text);
      assert.ok(errors <= words / 8, `${errors} of ${words}: ${text}`);
      assert.equal(language, "en");
      assert.equal(heardS, clip.durationS);
      assert.ok(segments.at(-1)!.endS > clip.durationS - 1.5);
    });

    test("ignores a prompt's repetitions", async () => {
      const fox = "The quick brown fox jumps over the lazy dog. ";
      const others = "She sells sea shells by the shore. A stitch in time saves nine. ";
      const prompts = [fox.repeat(3), fox.repeat(200), (fox + others).repeat(40), fox + others + fox + fox];
      for (const prompt of prompts) {
        const { text } = await recogniser.recognise(clipSource(await speech), { ...PLAIN, prompt }, never);
        const { errors } = wordErrors(TEXT, text);
        assert.ok(errors <= 2, `with ${prompt.length} characters: ${text}`);
      }
    });

    test("spells names as in the prompt, even where the prompt is the whole text", async () => {
      const clip = await spoken(voice, "Please ask Catherine and Steven about the theatre.");
      for (const [prompt, name, place] of [
        ["Please ask Kathryn and Stephen about the theater.", "Kathryn", "theater"],
        ["Please ask Katharine and Stephen about the theatre.", "Katharine", "theatre"],
        ["Kathryn and Stephen went to the theater.", "Kathryn", "theater"],
      ] as const) {
        const { text } = await recogniser.recognise(clipSource(clip), { ...PLAIN, prompt }, never);
        assert.equal(text, `Please ask ${name} and Stephen about the ${place}.`);
      }
    });

    test("translates into words with spaces, from a language without", async () => {
      const options = { ...PLAIN, language: "zh", task: "translate" } as const;
      const { text, language } = await recogniser.recognise(clipSource(await speech), options, never);
      assert.match(text, /\bbowls\b.* \bpunch\b/);
      assert.equal(language, "zh");
    });

    test("times the first word after a pause, and keeps sentences whole", async () => {
      const { samples, sampleRateHz } = await spoken(voice, "The juice of lemons makes fine punch.");
      const starts = [6, 12].map((atS) => atS * sampleRateHz);
      const all = new Float32Array(16 * sampleRateHz);
      for (const start of starts) all.set(samples, start);
      const clip = { samples: all, sampleRateHz, durationS: 16, digest: "two sentences after pauses" };
      const { segments } = await recogniser.recognise(
        clipSource(clip),
        { ...PLAIN, wantsWords: true },
        never,
      );
      assert.equal(segments.length, 2);
      for (const [at, { words }] of segments.entries()) {
        const onsetS =
          all.findIndex((sample, i) => i >= starts[at]! && Math.abs(sample) > 0.01) / sampleRateHz;
        assert.ok(Math.abs(words![0]!.startS - onsetS) <= 0.15, `${words![0]!.startS} for ${onsetS}`);
        assert.ok(words!.every(({ startS, endS }) => endS > startS));
      }
    });

    test("stops at maxS, and reports how far it got", async () => {
      const clip = repeated(await speech, 3, 0.4);
      const impatient = await openWhisper(folder, { maxS: 6 });
      try {
        const { transcribedS: heardS, segments } = await impatient.recognise(clipSource(clip), PLAIN, never);
        assert.equal(heardS, 6);
        assert.ok(segments.at(-1)!.endS <= 6);
      } finally {
        await impatient.close();
      }
    });
  });
}

async function spoken(voice: SpeechModel, text: string): Promise<Clip> {
  const parts: Float32Array[] = [];
  for await (const { samples } of voice.speak(scriptOf({ text }), never)) {
    parts.push(samples.slice());
  }
  const samples = Float32Array.from(parts.flatMap((part) => [...part]));
  return { samples, sampleRateHz: 24_000, durationS: samples.length / 24_000, digest: text };
}

function repeated({ samples, sampleRateHz, digest }: Clip, times: number, gapS: number): Clip {
  const step = samples.length + Math.round(gapS * sampleRateHz);
  const all = new Float32Array(step * times);
  for (let time = 0; time < times; time++) all.set(samples, time * step);
  return { samples: all, sampleRateHz, durationS: all.length / sampleRateHz, digest: `${times} ${digest}` };
}
