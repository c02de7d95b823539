import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { SAMPLE_RATE_HZ } from "../../../src/audio/format.ts";
import { loudnessOf } from "../../../src/audio/loudness.ts";
import { joinSamples } from "../../../src/audio/pcm.ts";
import type { Preset } from "../../../src/core/script.ts";
import type { SpeechModel, SpokenWord } from "../../../src/core/speech-model.ts";
import { parseMarkup } from "../../../src/text/ssml/parse-markup.ts";
import { bytesOf, never, speakAll } from "../../core/scripts.ts";
import { medianPitchHz } from "./listening.ts";
import { openVoice } from "./open-voice.ts";

interface Heard {
  readonly samples: Float32Array;
  readonly words: readonly SpokenWord[];
}

describe("The embedded voice with marks in its text", () => {
  let model: SpeechModel;
  before(async () => {
    model = await openVoice();
  });
  after(() => model.close());

  async function hear(text: string, speaker = "0", preset: Preset = {}): Promise<Heard> {
    const { frames } = await speakAll(model, {
      text: parseMarkup(text, null, ([name = ""]) => name).piece,
      speaker,
      preset,
    });
    const words = frames.flatMap((frame) => frame.words ?? []);
    return { samples: joinSamples(frames.map(({ samples }) => samples)), words };
  }
  const wordOf = ({ words }: Heard, written: string) => words.find(({ word }) => word === written)!;
  /** The samples of a word. */
  const soundOf = (heard: Heard, written: string) => {
    const { startS, endS } = wordOf(heard, written);
    return heard.samples.slice(Math.round(startS * SAMPLE_RATE_HZ), Math.round(endS * SAMPLE_RATE_HZ));
  };
  const lengthOf = (heard: Heard, written: string) => {
    const { startS, endS } = wordOf(heard, written);
    return endS - startS;
  };

  for (const [where, text] of [
    ["inside a sentence", "Hello [pause:TIMEs] world."],
    ["between sentences, in place of the pause there", "Hello. [pause:TIMEs] World."],
    ["between paragraphs", "Hello.\n\n[pause:TIMEs]\n\nWorld."],
    ["in SSML", '<speak>Hello <break time="TIMEs"/> world.</speak>'],
    ["in parts", '<speak><s>Hello</s><break time="0.5s"/><mark name="m"/>[pause:TIMEs]<s>world</s></speak>'],
  ] as const)
    test(`is silent for the requested time ${where}`, async () => {
      const extraS = where === "in parts" ? 0.5 : 0;
      let before = 0;
      for (const timeS of [0.3, 0.8, 2]) {
        const { samples } = await hear(text.replaceAll("TIME", `${timeS}`));
        const quietS = longestQuietS(samples);
        assert.ok(Math.abs(quietS - timeS - extraS) <= 0.04, `${quietS} s for ${timeS} s`);
        const lengthS = samples.length / SAMPLE_RATE_HZ - timeS;
        assert.ok(before === 0 || Math.abs(lengthS - before) < 1 / SAMPLE_RATE_HZ, `${lengthS}, ${before}`);
        before = lengthS;
      }
    });

  test("begins and ends with requested silence", async () => {
    const plain = await hear("Hello world.");
    const { samples, words } = await hear("[pause:1s]Hello world.[pause:2s]");
    const first = samples.findIndex((sample) => Math.abs(sample) > AUDIBLE) / SAMPLE_RATE_HZ;
    assert.ok(Math.abs(first - 1) < 0.04, `${first}`);
    const last =
      (samples.length - samples.findLastIndex((sample) => Math.abs(sample) > AUDIBLE)) / SAMPLE_RATE_HZ;
    assert.ok(Math.abs(last - 2) < 0.06, `${last}`);
    assert.deepEqual(
      words.map(({ word }) => word),
      plain.words.map(({ word }) => word),
    );
  });

  test("reports a cut in the last pause, and a mark after it", async () => {
    for (const [text, maxFrames, stop] of [
      ["Hi. [pause:10s]", 50, "length"],
      ["Hi. [pause:1s]", 50, "finished"],
      ["Hi.", 50, "finished"],
    ] as const) {
      const { report } = await speakAll(model, {
        text: parseMarkup(text, null, ([name = ""]) => name).piece,
        delivery: { maxFrames },
      });
      assert.equal(report.stop, stop, text);
    }
    const { words, samples } = await hear('<speak>Hi.<break time="1s"/><mark name="end"/></speak>');
    const end = words.find(({ mark }) => mark === "end")!;
    assert.ok(Math.abs(end.startS - samples.length / SAMPLE_RATE_HZ) < 0.1, `${end.startS}`);
  });

  test("reports when a mark is reached", async () => {
    const text =
      '<speak>Hello <mark name="a"/><break time="1s"/> <mark name="b"/>big <mark name="c"/>world.<mark name="d"/></speak>';
    const heard = await hear(text);
    const marks = new Map(
      heard.words.flatMap((word) => (word.mark === undefined ? [] : [[word.mark, word]])),
    );
    assert.deepEqual([...marks.keys()], ["a", "b", "c", "d"]);
    const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => marks.get(name)!);
    assert.ok(Math.abs(a!.startS - wordOf(heard, "Hello").endS) < 0.05);
    assert.ok(Math.abs(b!.startS - a!.startS - 1) < 0.05);
    assert.equal(b!.startS, wordOf(heard, "big").startS);
    assert.equal(c!.startS, wordOf(heard, "world").startS);
    assert.ok(Math.abs(d!.startS - wordOf(heard, "world").endS) < 0.05);
    for (const { word, length, offset, mark } of marks.values()) {
      assert.deepEqual([word, length], ["", 0]);
      assert.equal(text.slice(offset, offset + 12 + mark!.length), `<mark name="${mark}`);
    }
  });

  test("changes rate, pitch and volume within prosody and emphasis only", async () => {
    const say = (open: string, name: string) =>
      hear(`<speak>We saw seven ${open}yellow melons${name === "" ? "" : `</${name}>`} on Monday.</speak>`);
    const plain = await say("", "");
    const slow = await say('<prosody rate="75%">', "prosody");
    assert.ok(lengthOf(slow, "melons") > 1.2 * lengthOf(plain, "melons"));
    assert.ok(lengthOf(slow, "Monday") < 1.1 * lengthOf(plain, "Monday"));
    const half = await say('<prosody rate="50%">', "prosody");
    assert.ok(lengthOf(half, "melons") > 1.7 * lengthOf(plain, "melons"));
    const semitones = (heard: Heard, word: string) =>
      12 * Math.log2(medianPitchHz(soundOf(heard, word)) / medianPitchHz(soundOf(plain, word)));
    const high = await say('<prosody pitch="+4st">', "prosody");
    assert.ok(Math.abs(semitones(high, "melons") - 4) < 0.7, `${semitones(high, "melons")}`);
    assert.ok(Math.abs(semitones(high, "seven")) < 0.7, `${semitones(high, "seven")}`);
    const low = await say('<prosody pitch="-3st">', "prosody");
    assert.ok(semitones(low, "melons") < -2.2);
    const set = await say('<prosody pitch="150Hz">', "prosody");
    assert.ok(Math.abs(medianPitchHz(soundOf(set, "melons")) - 150) < 25);
    const levelDb = (heard: Heard, word: string) =>
      20 * Math.log10(rms(soundOf(heard, word)) / rms(soundOf(plain, word)));
    const quiet = await say('<prosody volume="-12dB">', "prosody");
    assert.ok(Math.abs(levelDb(quiet, "melons") + 12) < 1.5, `${levelDb(quiet, "melons")}`);
    assert.ok(Math.abs(levelDb(quiet, "seven")) < 0.5);
    const silent = await say('<prosody volume="silent">', "prosody");
    assert.ok(rms(soundOf(silent, "melons")) < 0.003);
    const strong = await say('<emphasis level="strong">', "emphasis");
    assert.ok(levelDb(strong, "melons") > 1.5 && semitones(strong, "melons") > 1);
    assert.ok(lengthOf(strong, "melons") > 1.05 * lengthOf(plain, "melons"));
  });

  // The gain changes over one hop; playing faster, by overlapping windows, spreads it.
  for (const [speaker, rate, maxLate] of [
    ["0", 1, 300],
    ["1", 1, 300],
    ["0", 1.6, 600],
  ] as const)
    test(`is silent within an element of volume silent, as speaker ${speaker} at rate ${rate}`, async () => {
      const element = '<prosody volume="silent">lemons are yellow</prosody>';
      const heard = await hear(`<speak>Amber ${element} in May.</speak>`, speaker, { rate });
      const [from, to] = ["lemons", "in"].map((word) =>
        Math.round(wordOf(heard, word).startS * SAMPLE_RATE_HZ),
      );
      const inside = Math.round((from! + to!) / 2);
      const isSound = (sample: number) => Math.abs(sample) > 1e-6;
      const stops = heard.samples.slice(0, inside).findLastIndex(isSound) - from!;
      const begins = inside + heard.samples.slice(inside).findIndex(isSound) - to!;
      for (const late of [stops, begins]) assert.ok(late >= 0 && late <= maxLate, `${stops}, ${begins}`);
    });

  test("changes its voice within a text, at equal loudness", async () => {
    const both = await hear(
      '<speak><voice name="0">Seven yellow melons.</voice> <voice name="1">Eleven lemons.</voice></speak>',
    );
    const at = Math.round(wordOf(both, "Eleven").startS * SAMPLE_RATE_HZ);
    const [she, he] = [both.samples.slice(0, at - 2_400), both.samples.slice(at)];
    assert.ok(medianPitchHz(she) > 1.3 * medianPitchHz(he));
    const loudness = [she, he].map((part) => loudnessOf(part, SAMPLE_RATE_HZ)!);
    assert.ok(Math.abs(loudness[0]! - loudness[1]!) < 3, `${loudness}`);
  });

  test("follows a recording for a part of the text", async () => {
    const him = await hear(
      "The birch canoe slid on the smooth planks. Glue the sheet to the dark blue background.",
      "1",
    );
    const clip = {
      samples: him.samples,
      sampleRateHz: SAMPLE_RATE_HZ,
      durationS: him.samples.length / SAMPLE_RATE_HZ,
      digest: "him",
    };
    const { piece } = parseMarkup(
      '<speak>Seven yellow melons. <voice name="Bob">Eleven lemons.</voice></speak>',
      null,
      ([name = ""]) => name,
    );
    const textVoices = { Bob: { voice: [{ weight: 1, sample: { clip, text: null } }] } };
    await model.analyseHistory?.({ history: [], speaker: "0", preset: {}, textVoices }, never());
    const { frames } = await speakAll(model, { text: piece, textVoices });
    const samples = joinSamples(frames.map((frame) => frame.samples));
    const words = frames.flatMap((frame) => frame.words ?? []);
    const at = Math.round(words.find(({ word }) => word === "Eleven")!.startS * SAMPLE_RATE_HZ);
    const [she, he] = [samples.slice(0, at - 2_400), samples.slice(at)].map(medianPitchHz);
    assert.ok(she! > 1.3 * he!, `${she}, ${he}`);
  });

  test("speaks marks without effect as plain text, to the byte", async () => {
    const plain = await speakAll(model, { text: "Seven yellow melons. Eleven lemons." });
    for (const text of [
      "<speak>Seven yellow melons. Eleven lemons.</speak>",
      '<speak>Seven <prosody rate="medium">yellow</prosody> melons.<!-- c --> Eleven <emphasis level="none">lemons</emphasis>.</speak>',
      '<speak>Seven yellow melons. <mark name="m"/>Eleven lemons.</speak>',
    ]) {
      const marked = await speakAll(model, { text: parseMarkup(text, null, ([name = ""]) => name).piece });
      assert.deepEqual(bytesOf(marked.frames), bytesOf(plain.frames), text);
    }
  });
});

/** Above the samples of a silence. */
const AUDIBLE = 0.004;

function longestQuietS(samples: Float32Array): number {
  let longest = 0;
  let from = samples.findIndex((sample) => Math.abs(sample) > AUDIBLE);
  for (let at = from; at < samples.length; at++) {
    if (Math.abs(samples[at]!) <= AUDIBLE) continue;
    longest = Math.max(longest, at - from);
    from = at;
  }
  return longest / SAMPLE_RATE_HZ;
}

function rms(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}
