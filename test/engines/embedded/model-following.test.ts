import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { SAMPLE_RATE_HZ } from "../../../src/audio/format.ts";
import { loudnessOf } from "../../../src/audio/loudness.ts";
import type { Clip, Turn } from "../../../src/core/conversation.ts";
import type { FollowedVoice, SpeechModel } from "../../../src/core/speech-model.ts";
import { trackPitch } from "../../../src/engines/following/analysis/pitch-track.ts";
import { logPitches } from "../../../src/engines/following/analysis/voice-profile.ts";
import { LONG_TEXT, type ScriptParts, speakAll } from "../../core/scripts.ts";
import { finish } from "../following/analysis/finish.ts";
import { hear } from "./listening.ts";
import { openVoice } from "./open-voice.ts";

const CLIP_TEXT =
  "We met at the harbour, well before sunrise, and nobody had slept much. She told me that the boats were late again.";
const TEXT = "The birch canoe slid on the smooth planks. We were away a year ago, and now we are home.";

describe("The embedded voice that follows a clip", () => {
  let model: SpeechModel;
  let woman: Clip;
  let man: Clip;
  before(async () => {
    model = await openVoice();
    woman = clipOf("woman", await hear(model, { text: CLIP_TEXT, speaker: "0" }));
    man = clipOf("man", await hear(model, { text: CLIP_TEXT, speaker: "1" }));
  });
  after(() => model.close());

  /** The speech after a history, and the followed voice. */
  async function reply(history: readonly Turn[], parts: ScriptParts = {}) {
    const { frames, report } = await speakAll(model, { text: TEXT, history, ...parts });
    return { samples: Float32Array.from(frames.flatMap(({ samples }) => [...samples])), voice: report.voice };
  }
  const followedVoice = async (history: readonly Turn[], parts: ScriptParts = {}): Promise<FollowedVoice> =>
    (await reply(history, parts)).voice ?? assert.fail("nothing was followed");

  test("speaks at the clip's pitch, whatever the label's default voice", async () => {
    const plain = { woman: await reply([]), man: await reply([], { speaker: "1" }) };
    assert.equal(plain.woman.voice, undefined);
    for (const speaker of ["0", "1"]) {
      const asMan = await reply([turn(speaker, man)], { speaker });
      const asWoman = await reply([turn(speaker, woman)], { speaker });
      assert.ok(semitones(asMan.samples, plain.man.samples) < 1.2, `man ${speaker}`);
      assert.ok(semitones(asWoman.samples, plain.woman.samples) < 1.2, `woman ${speaker}`);
      assert.deepEqual([asMan.voice?.start, asWoman.voice?.start], ["1", "0"]);
    }
  });

  test("keeps its voice when another speaks, and adapts level and pace a little", async () => {
    const plain = await reply([]);
    const loud = { ...man, samples: man.samples.map((sample) => 3 * sample), digest: "a loud man" };
    const { samples, voice } = await reply([turn("1", loud)]);
    assert.ok(semitones(samples, plain.samples) < 0.5);
    assert.deepEqual([voice?.start, voice?.entrainedBy, voice?.followed, voice?.turns], ["0", 0, [], []]);
    assert.deepEqual([voice?.pitchSemitones, voice?.spectrumDb], [0, 0]);
    assert.ok(voice!.levelDb > 0.5 && voice!.levelDb <= 3, `${voice?.levelDb} dB`);
    const louder = loudnessOf(samples, SAMPLE_RATE_HZ)! - loudnessOf(plain.samples, SAMPLE_RATE_HZ)!;
    assert.ok(Math.abs(louder - voice!.levelDb) < 0.5, `${louder} LU`);
    assert.ok(Math.abs(Math.log(voice!.rate)) <= Math.log(1.05) + 1e-9, `${voice?.rate}`);
  });

  test("ignores another's clip where only the pitch is followed", async () => {
    const preset = { follows: "pitch" };
    const { samples, voice } = await reply([turn("1", man)], { preset });
    assert.deepEqual(samples, (await reply([], { preset })).samples);
    assert.equal(voice?.entrainedBy, null);
  });

  test("follows each label's own clip, and ignores text", async () => {
    const history = [turn("0", man, "Hello."), turn("1", woman, "Good morning to you all.")];
    const [zero, one] = [await followedVoice(history), await followedVoice(history, { speaker: "1" })];
    assert.deepEqual([zero.start, zero.turns, zero.entrainedBy], ["1", [0], null]);
    assert.deepEqual([one.start, one.turns, one.entrainedBy], ["0", [1], null]);
    const written: Turn[] = [{ speaker: "0", text: "Hello to all of you.", audio: null }];
    const onlyText = await reply(written, { speaker: "1" });
    assert.equal(onlyText.voice, undefined);
  });

  test("joins the clips of one speaker", async () => {
    const halves = halvesOf(man);
    const [first, both, whole] = [
      await followedVoice([turn("0", halves[0]!)]),
      await followedVoice([turn("0", halves[0]!), turn("1", woman), turn("0", halves[1]!)]),
      await followedVoice([turn("0", man)]),
    ];
    assert.deepEqual(both.turns, [0, 2]);
    assert.ok(both.speechS > first.speechS + 1, `${first.speechS} s, then ${both.speechS} s`);
    assert.ok(Math.abs(both.speechS - whole.speechS) < 0.3);
    assert.ok(Math.abs(both.pitchSemitones - whole.pitchSemitones) < 0.5);
  });

  test("keeps a label's voice to the byte after its first 12 s", async () => {
    const begun = ["a", "b", "c"].map((name) => turn("0", { ...man, digest: `man ${name}` }));
    const last = turn("1", woman, "And what did they say to that?");
    const grown = [...begun, turn("1", man), turn("0", woman), turn("0", woman, "And later?"), last];
    const [early, late] = [await reply([...begun, last]), await reply(grown)];
    assert.ok(early.voice!.speechS >= 12, `${early.voice?.speechS} s`);
    assert.deepEqual(late.voice, early.voice);
    assert.deepEqual(late.samples, early.samples);
  });

  test("follows its own speech to where it was", async () => {
    const plain = await reply([], { speaker: "1" });
    const text = `${CLIP_TEXT} ${LONG_TEXT}`;
    const own = clipOf("own", await hear(model, { text, speaker: "1" }));
    const { samples, voice } = await reply([turn("1", own, text)], { speaker: "1" });
    assert.equal(voice?.start, "1");
    assert.ok(semitones(samples, plain.samples) <= 0.7, `${semitones(samples, plain.samples)} semitones`);
    const apart = loudnessOf(samples, SAMPLE_RATE_HZ)! - loudnessOf(plain.samples, SAMPLE_RATE_HZ)!;
    assert.ok(Math.abs(apart) <= 1.5, `${apart} LU`);
    assert.ok(Math.abs(voice!.rate - 1) < 0.05, `${voice?.rate}`);
  });
});

function clipOf(digest: string, samples: Float32Array): Clip {
  return { samples, sampleRateHz: SAMPLE_RATE_HZ, durationS: samples.length / SAMPLE_RATE_HZ, digest };
}

function halvesOf(clip: Clip): Clip[] {
  const middle = clip.samples.length >> 1;
  return [clip.samples.subarray(0, middle), clip.samples.subarray(middle)].map((half, index) =>
    clipOf(`${clip.digest} ${index}`, half),
  );
}

function turn(speaker: string, audio: Clip, text: string | null = null): Turn {
  return { speaker, text, audio };
}

/** The difference of the mean pitches. */
function semitones(one: Float32Array, other: Float32Array): number {
  return Math.abs(12 * Math.log2(pitchHz(one) / pitchHz(other)));
}

/** Geometric mean over voiced frames. */
function pitchHz(samples: Float32Array): number {
  const logs = logPitches(finish(trackPitch(samples, SAMPLE_RATE_HZ)).pitchHz);
  return Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
}
