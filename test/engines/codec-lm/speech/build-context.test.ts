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
const contextOf = (
  history: readonly Turn[],
  voices: ClipSupport,
  given: Parameters<typeof resolveLabelVoices>[0] = {},
) => buildContext({ history, speaker: "0" }, voices, resolveLabelVoices(given, voices), never());

describe("buildContext for a model that reads conversations", () => {
  test("contains every turn, at 24 kHz, on one line, as a copy", async () => {
    const history = [
      turn("1", "Hello\n [Bob](/bɑb/).", 1, 16_000),
      turn("0", null, 1),
      turn("1", "And now?", null),
    ];
    const { turns, indices } = await contextOf(history, ANY);
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

  test("begins with the clip of a label without audio", async () => {
    const voices = { "0": clip(), "1": clip("Others.") };
    const unheard = await contextOf([turn("0", "Written.", null), turn("1", "Spoken.", 1)], ANY, voices);
    assert.deepEqual(unheard.indices, [null, 0, 1]);
    const [first] = unheard.turns;
    const { speaker, text, audio } = first!;
    assert.deepEqual([speaker, text, audio!.length], ["0", "Some words of a second.", 24_000]);
    assert.match(first!.digest!, /^voice:[0-9a-f]{64}$/);
    const heard = await contextOf([turn("0", "Spoken.", 1)], ANY, voices);
    assert.deepEqual(heard.indices, [0]);
  });

  test("takes 63 turns with audio, and reports which were read, heard and forgotten", async () => {
    const history = Array.from({ length: 63 }, (_, at) =>
      turn(String(at % 2), at % 5 === 0 ? null : `Turn ${at}.`, 1),
    );
    const ending = { readTurns: [40, 62], audioTurns: [62] };
    const model = new ScriptedModel(() => ({ levels: tone(3), ending }));
    const { report } = await speakAll(await speechOver(model), { history });
    assert.equal(model.asked[0]!.history.length, 63);
    assert.deepEqual(report.prompt?.turns, [40, 62]);
    assert.deepEqual(report.prompt?.heard, [62]);
    assert.equal(report.prompt?.forgotten?.length, 61);
  });
});

describe("buildContext for a model that follows a clip", () => {
  test("contains the speaker's own audio, each with 0.5 s of silence", async () => {
    const history = [
      turn("0", "Written.", null),
      turn("1", "Somebody else's.", 2),
      turn("0", "These are the words of two seconds.", 2),
      turn("0", null, 1),
    ];
    const { turns, indices } = await contextOf(history, CLIPS, { "0": clip() });
    assert.deepEqual(indices, [2, 3]);
    assert.deepEqual(
      turns.map(({ text, audio, digest }) => [text, audio?.length, digest]),
      [
        ["These are the words of two seconds.", 2.5 * 24_000, "0 2:rest"],
        [null, 1.5 * 24_000, "0 1:rest"],
      ],
    );
    assert.equal(turns[0]!.audio!.at(-1), 0);
    const ending = { readTurns: [1], audioTurns: [1] };
    const speech = await speechOver(new ScriptedModel(() => ({ levels: tone(2), ending }), CLIPS));
    const { report } = await speakAll(speech, { history });
    assert.deepEqual(report.prompt, { turns: [3], heard: [3], forgotten: [2], cautions: [] });
  });

  test("drops words that cannot be those of the audio", async () => {
    const textOf = async (each: Turn) => (await contextOf([each], CLIPS)).turns[0]!.text;
    assert.equal(await textOf(turn("0", "Two words.", 8)), null);
    const long = "Far too many words for a single second of speech, by far.";
    assert.equal(await textOf(turn("0", long, 1)), null);
    assert.equal(await textOf(turn("0", "Yes.", 1.5)), "Yes.");
    const whole = turn("0", "These are the words of two seconds.", 2);
    const cut = { ...whole, audio: { ...whole.audio!, samples: whole.audio!.samples.subarray(0, 24_000) } };
    assert.equal(await textOf(cut), null);
  });

  test("contains the label's clip where the speaker has none, and requires one", async () => {
    const { turns, indices } = await contextOf([turn("1", "Hello.", 1)], CLIPS, { "0": clip() });
    assert.deepEqual([indices, turns.length, turns[0]!.audio!.length], [[null], 1, 36_000]);
    const missing = contextOf([turn("1", "Hello.", 1)], CLIPS, { "1": clip() });
    await assert.rejects(missing, ConversationError);
    await assert.rejects(missing, /none of speaker "0": give an earlier turn of that speaker audio_wav_b64/);
  });

  test("is the same for each segment", async () => {
    const model = new ScriptedModel(() => ({ levels: tone(3) }), CLIPS);
    const speech = await speechOver(model, { voices: { "0": clip() } });
    await speakAll(speech, { text: "A sentence of some length, which is repeated. ".repeat(20) });
    assert.ok(model.asked.length > 2);
    for (const { history } of model.asked) assert.deepEqual(history, model.asked[0]!.history);
  });
});

describe("resolveLabelVoices", () => {
  test("leaves the conversation out for presets", async () => {
    assert.deepEqual(await contextOf([turn("0", "Hello.", 1)], PRESETS), { turns: [], indices: [] });
  });

  test("defaults to a woman's and a man's preset", () => {
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

  test("rejects a voice that the checkpoint lacks, with what it has", () => {
    const refused = (
      voice: Parameters<typeof resolveLabelVoices>[0][string],
      voices: ClipSupport,
      message: RegExp,
    ) => {
      const isRefused = (error: unknown) => error instanceof OptionError && message.test(error.message);
      assert.throws(() => resolveLabelVoices({ "1": voice }, voices), isRefused);
    };
    const short = clip("Far too many words for a single second of speech, by far.");
    const bob = { preset: "bob" };
    refused(bob, PRESETS, /voices\.1: this checkpoint has no preset "bob"; it has vivian, ryan, aiden\./);
    refused(bob, ANY, /no preset "bob"; give a clip\./);
    refused(bob, { kind: "presets", presets: [] }, /describe a voice with instruct/);
    refused(clip(), PRESETS, /follows no clip: give a preset, one of vivian, ryan, aiden\./);
    refused({ clip: { samples: new Float32Array(0), text: "" } }, ANY, /the clip is empty/);
    refused(short, CLIPS, /cannot be that of 1\.0 s of speech/);
  });
});

describe("The length of a text", () => {
  test("counts the letters of written-out abbreviations", () => {
    assert.equal(countLetters("It is on."), 9);
    assert.equal(countLetters("1999"), 20);
    assert.equal(countLetters("$5"), 9);
    assert.equal(countLetters("你好"), 6);
    assert.equal(countLetters("かな가"), 6);
    assert.equal(countLetters("e\u0301"), 1);
  });

  test("bounds its frames, and tells whether it can be a recording's", () => {
    // Half of a slow reader's pace: 2.5 words or two syllables of Chinese per second.
    const clocks = "It was a bright cold day in April, and the clocks were striking.";
    assert.ok(maxFramesFor(clocks) * 0.08 > 13 / 1.25 && maxFramesFor(clocks) * 0.08 < 20);
    assert.ok(maxFramesFor("今天天气很好我们一起去公园散步吧") * 0.08 > 16 / 2);
    assert.ok(maxFramesFor("777777") * 0.08 > 20 / 2.5);
    assert.ok(couldCoverAudio("今天天气很好我们一起去公园散步吧", 3.5));
    assert.ok(!couldCoverAudio("今天", 5));
    assert.ok(couldCoverAudio("0171 5550 1234", 5));
    assert.ok(!couldCoverAudio("", 2));
  });
});

describe("resolveScriptVoices", () => {
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

  test("replaces the speaker's audio by a recording, with its words if they fit", async () => {
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

  test("takes a label's voice or a preset", async () => {
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

  test("rejects a recording for presets, and a mix", async () => {
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
