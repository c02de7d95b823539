import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Turn } from "../../../../src/core/conversation.ts";
import type { ChosenVoice } from "../../../../src/core/script.ts";
import { ConversationError } from "../../../../src/core/speech-model.ts";
import type { ClipSupport } from "../../../../src/engines/codec-lm/codec-language-model.ts";
import { OptionError } from "../../../../src/engines/codec-lm/fields.ts";
import { buildContext } from "../../../../src/engines/codec-lm/speech/build-context.ts";
import {
  couldCoverAudio,
  countLetters,
  maxFramesFor,
} from "../../../../src/engines/codec-lm/speech/segments.ts";
import { resolveLabelVoices, resolveScriptVoices } from "../../../../src/engines/codec-lm/speech/voices.ts";
import { never, speakAll } from "../../../core/scripts.ts";
import { ScriptedModel, speechOver, tone } from "./scripted-model.ts";

const ANY: ClipSupport = { kind: "any", presets: [] };
const CLIPS: ClipSupport = { kind: "clips", presets: [] };
const PRESETS: ClipSupport = { kind: "presets", presets: ["vivian", "ryan", "aiden"] };

function turn(speaker: string, text: string | null, durationS: number | null, sampleRateHz = 24_000): Turn {
  if (durationS === null) return { speaker, text, audio: null };
  const samples = new Float32Array(durationS * sampleRateHz).fill(0.25);
  return { speaker, text, audio: { samples, sampleRateHz, durationS, digest: `${speaker} ${durationS}` } };
}

const clip = (text = "Some words of a second.") => ({
  clip: { samples: new Float32Array(24_000).fill(0.5), text },
});
const told = (
  history: readonly Turn[],
  voices: ClipSupport,
  given: Parameters<typeof resolveLabelVoices>[0] = {},
) => buildContext({ history, speaker: "0" }, voices, resolveLabelVoices(given, voices), never());

describe("what a model that reads the conversation is told", () => {
  test("is all of it, at 24 kHz, on one line, and stays when the caller's clips are gone", async () => {
    const history = [
      turn("1", "Hello\n [Bob](/bɑb/).", 1, 16_000),
      turn("0", null, 1),
      turn("1", "And now?", null),
    ];
    const { turns, indices } = await told(history, ANY);
    assert.deepEqual(indices, [0, 1, 2]);
    assert.deepEqual(
      turns.map(({ speaker, text, audio, digest }) => [speaker, text, audio?.length, digest]),
      [
        ["1", "Hello Bob.", 24_000, "1 1:24k"],
        ["0", null, 24_000, "0 1"],
        ["1", "And now?", undefined, undefined],
      ],
    );
    history[1]!.audio!.samples.fill(9);
    assert.equal(turns[1]!.audio![0], 0.25);
  });

  test("begins with the clip of a label that has not been heard", async () => {
    const voices = { "0": clip(), "1": clip("Others.") };
    const unheard = await told([turn("0", "Written.", null), turn("1", "Spoken.", 1)], ANY, voices);
    assert.deepEqual(unheard.indices, [null, 0, 1]);
    const [first] = unheard.turns;
    assert.deepEqual(
      [first!.speaker, first!.text, first!.audio!.length],
      ["0", "Some words of a second.", 24_000],
    );
    assert.match(first!.digest!, /^voice:[0-9a-f]{64}$/);
    const heard = await told([turn("0", "Spoken.", 1)], ANY, voices);
    assert.deepEqual(heard.indices, [0]);
  });

  test("may be 63 turns with audio; what was read of them, heard and forgotten is told by their indices", async () => {
    const history = Array.from({ length: 63 }, (_, at) =>
      turn(String(at % 2), at % 5 === 0 ? null : `Turn ${at}.`, 1),
    );
    const model = new ScriptedModel(() => ({
      levels: tone(3),
      ending: { readTurns: [40, 62], audioTurns: [62] },
    }));
    const { report } = await speakAll(await speechOver(model), { history });
    assert.equal(model.asked[0]!.history.length, 63);
    assert.deepEqual(report.prompt?.turns, [40, 62]);
    assert.deepEqual(report.prompt?.heard, [62]);
    assert.equal(report.prompt?.forgotten?.length, 61);
  });
});

describe("what a model that follows a clip is told", () => {
  test("is its speaker's own turns with sound, and half a second of silence behind each", async () => {
    const history = [
      turn("0", "Written.", null),
      turn("1", "Somebody else's.", 2),
      turn("0", "These are the words of two seconds.", 2),
      turn("0", null, 1),
    ];
    const { turns, indices } = await told(history, CLIPS, { "0": clip() });
    assert.deepEqual(indices, [2, 3]);
    assert.deepEqual(
      turns.map(({ text, audio, digest }) => [text, audio?.length, digest]),
      [
        ["These are the words of two seconds.", 2.5 * 24_000, "0 2:rest"],
        [null, 1.5 * 24_000, "0 1:rest"],
      ],
    );
    assert.equal(turns[0]!.audio!.at(-1), 0);
    const report = (
      await speakAll(
        await speechOver(
          new ScriptedModel(() => ({ levels: tone(2), ending: { readTurns: [1], audioTurns: [1] } }), CLIPS),
        ),
        { history },
      )
    ).report;
    assert.deepEqual(report.prompt, { turns: [3], heard: [3], forgotten: [2], cautions: [] });
  });

  test("has no words where they cannot be those of the sound", async () => {
    const textOf = async (each: Turn) => (await told([each], CLIPS)).turns[0]!.text;
    assert.equal(await textOf(turn("0", "Two words.", 8)), null);
    assert.equal(
      await textOf(turn("0", "Far too many words for a single second of speech, by far.", 1)),
      null,
    );
    assert.equal(await textOf(turn("0", "Yes.", 1.5)), "Yes.");
    const whole = turn("0", "These are the words of two seconds.", 2);
    const cut = { ...whole, audio: { ...whole.audio!, samples: whole.audio!.samples.subarray(0, 24_000) } };
    assert.equal(await textOf(cut), null);
  });

  test("is the label's clip where it has none of its own, and without one says what to give", async () => {
    const { turns, indices } = await told([turn("1", "Hello.", 1)], CLIPS, { "0": clip() });
    assert.deepEqual([indices, turns.length, turns[0]!.audio!.length], [[null], 1, 36_000]);
    const missing = told([turn("1", "Hello.", 1)], CLIPS, { "1": clip() });
    await assert.rejects(missing, ConversationError);
    await assert.rejects(missing, /none of speaker "0": give an earlier turn of that speaker audio_wav_b64/);
  });

  test("is the same clip for each of its parts", async () => {
    const model = new ScriptedModel(() => ({ levels: tone(3) }), CLIPS);
    const speech = await speechOver(model, { voices: { "0": clip() } });
    await speakAll(speech, { text: "A sentence of some length, which is repeated. ".repeat(20) });
    assert.ok(model.asked.length > 2);
    for (const { history } of model.asked) assert.deepEqual(history, model.asked[0]!.history);
  });
});

describe("the voices of labels", () => {
  test("with presets tell the model nothing of the conversation", async () => {
    assert.deepEqual(await told([turn("0", "Hello.", 1)], PRESETS), { turns: [], indices: [] });
  });

  test("are presets that exist, a woman's and a man's unless something else is set", () => {
    const of = (given: Parameters<typeof resolveLabelVoices>[0], presets: readonly string[]) => {
      const voices = resolveLabelVoices(given, { kind: "presets", presets });
      return [voices.presetOf("0"), voices.presetOf("1")];
    };
    assert.deepEqual(of({}, PRESETS.presets), ["vivian", "ryan"]);
    assert.deepEqual(of({}, ["alpha", "beta"]), ["alpha", "beta"]);
    assert.deepEqual(of({}, ["alpha"]), ["alpha", "alpha"]);
    assert.deepEqual(of({}, []), [null, null]);
    assert.deepEqual(of({ "0": { preset: "Ryan" } }, PRESETS.presets), ["ryan", "aiden"]);
    assert.deepEqual(of({ "1": { preset: "vivian" } }, PRESETS.presets), ["ryan", "vivian"]);
    assert.equal(resolveLabelVoices({}, ANY).presetOf("0"), null);
  });

  test("are refused where the checkpoint does not have them, with what it has", () => {
    const refused = (
      voice: Parameters<typeof resolveLabelVoices>[0][string],
      voices: ClipSupport,
      message: RegExp,
    ) => {
      assert.throws(
        () => resolveLabelVoices({ "1": voice }, voices),
        (error: unknown) => {
          assert.ok(error instanceof OptionError);
          assert.match(error.message, message);
          return true;
        },
      );
    };
    refused(
      { preset: "bob" },
      PRESETS,
      /voices\.1: this checkpoint has no preset "bob"; it has vivian, ryan, aiden\./,
    );
    refused({ preset: "bob" }, ANY, /no preset "bob"; give a clip\./);
    refused({ preset: "bob" }, { kind: "presets", presets: [] }, /describe a voice with instruct/);
    refused(clip(), PRESETS, /follows no clip: give a preset, one of vivian, ryan, aiden\./);
    refused({ clip: { samples: new Float32Array(0), text: "" } }, ANY, /the clip is empty/);
    refused(
      clip("Far too many words for a single second of speech, by far."),
      CLIPS,
      /cannot be that of 1\.0 s of speech/,
    );
  });
});

describe("how long a text is", () => {
  test("counts words and syllables that are written short for several letters", () => {
    assert.equal(countLetters("It is on."), 9);
    assert.equal(countLetters("1999"), 20);
    assert.equal(countLetters("$5"), 9);
    assert.equal(countLetters("你好"), 6);
    assert.equal(countLetters("かな가"), 6);
    assert.equal(countLetters("e\u0301"), 1);
  });

  test("bounds its frames generously, and tells whether it may be that of a recording", () => {
    // Twice as slow as anybody reads: 2.5 words a second, or two syllables of Chinese.
    assert.ok(
      maxFramesFor("It was a bright cold day in April, and the clocks were striking.") * 0.08 > 13 / 1.25,
    );
    assert.ok(maxFramesFor("今天天气很好我们一起去公园散步吧") * 0.08 > 16 / 2);
    assert.ok(maxFramesFor("777777") * 0.08 > 20 / 2.5);
    assert.ok(maxFramesFor("It was a bright cold day in April, and the clocks were striking.") * 0.08 < 20);
    assert.ok(couldCoverAudio("今天天气很好我们一起去公园散步吧", 3.5));
    assert.ok(!couldCoverAudio("今天", 5));
    assert.ok(couldCoverAudio("0171 5550 1234", 5));
    assert.ok(!couldCoverAudio("", 2));
  });
});

describe("a voice that a script chooses", () => {
  const sample = (text: string | null) => ({ clip: turn("", null, 1).audio!, text });
  const chosen = (voice: ChosenVoice, voices: ClipSupport, history: readonly Turn[] = []) => {
    const script = { history, speaker: "0", voice };
    return buildContext(
      script,
      voices,
      resolveScriptVoices(script, resolveLabelVoices({ "1": clip() }, voices), voices),
      never(),
    );
  };

  test("is a recording, in place of the speaker's own sound, with its words where they may be those", async () => {
    const history = [turn("0", "Spoken.", 1), turn("0", null, 1), turn("1", "Others.", 1)];
    const voice = [{ weight: 1, sample: sample("Some words of a second.") }];
    const all = await chosen(voice, ANY, history);
    assert.deepEqual(
      all.turns.map(({ speaker, text, audio }) => [speaker, text, audio?.length]),
      [
        ["0", "Some words of a second.", 24_000],
        ["0", "Spoken.", undefined],
        ["1", "Others.", 24_000],
      ],
    );
    assert.deepEqual(all.indices, [null, 0, 2]);
    const clips = await chosen([{ weight: 1, sample: sample("x".repeat(500)) }], CLIPS, history);
    assert.deepEqual(
      clips.turns.map(({ text, audio }) => [text, audio?.length]),
      [[null, 36_000]],
    );
  });

  test("is that of a label, or a preset", async () => {
    const { turns } = await chosen([{ weight: 1, id: "1" }], CLIPS, [turn("0", "Spoken.", 1)]);
    assert.deepEqual(
      turns.map(({ speaker, text }) => [speaker, text]),
      [["0", "Some words of a second."]],
    );
    const model = new ScriptedModel(() => ({ levels: tone(3) }), PRESETS);
    const speech = await speechOver(model);
    await speakAll(speech, { voice: [{ weight: 1, id: "Aiden" }] });
    await speakAll(speech, { voice: [{ weight: 1, id: "1" }] });
    assert.deepEqual(
      model.asked.map(({ options }) => options.get("speaker")),
      ["vivian", "aiden", "ryan"].slice(3 - model.asked.length),
    );
  });

  test("cannot be a recording of a model with presets, or a mix", async () => {
    const voices: ChosenVoice[] = [
      [{ weight: 1, sample: sample(null) }],
      [
        { weight: 0.5, id: "vivian" },
        { weight: 0.5, id: "ryan" },
      ],
    ];
    for (const voice of voices) {
      const speech = await speechOver(new ScriptedModel(() => ({ levels: tone(3) }), PRESETS));
      await assert.rejects(speakAll(speech, { voice }), ConversationError);
    }
  });
});
