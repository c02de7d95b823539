import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Clip, Turn } from "../../../src/core/conversation.ts";
import type { FollowedVoice, SpeechModel } from "../../../src/core/speech-model.ts";
import { bytesOf, LONG_TEXT, never, type ScriptParts, scriptOf, speakAll } from "../../core/scripts.ts";
import { clipOf, noise, scaled } from "../following/analysis/signals.ts";
import { syntheticVoice } from "../following/analysis/synthetic-voice.ts";
import { openTiny, tinyFolder } from "./tiny-kokoro.ts";

const clip = (samples: Float32Array, digest: string): Clip => ({ ...clipOf(samples), digest });
const woman = clip(syntheticVoice({ durationS: 5, pitchHz: 190 }), "woman");
const man = clip(syntheticVoice({ durationS: 5, pitchHz: 110, tract: 0.84 }), "man");
const hiss = clip(scaled(noise(48_000, 1), 0.2), "hiss");
const turn = (speaker: string, audio: Clip, text: string | null = null): Turn => ({ speaker, text, audio });
const chosen = (audio: Clip) => [{ weight: 1, sample: { clip: audio, text: null } }];

describe("Kokoro that follows a clip", () => {
  let model: SpeechModel;
  let folder: string;
  before(async () => {
    folder = await tinyFolder();
    model = await openTiny(folder);
    // Measures the other voice.
    await speakAll(model, { speaker: "1" });
  });
  after(() => model.close());

  async function said(parts: ScriptParts) {
    const { frames, report } = await speakAll(model, { text: LONG_TEXT, ...parts });
    return { frames, bytes: bytesOf(frames), voice: report.voice };
  }
  const followedVoice = async (parts: ScriptParts): Promise<FollowedVoice> =>
    (await said(parts)).voice ?? assert.fail("nothing was followed");

  test("starts from the nearest voice, and reports what it follows", async () => {
    const asMan = await followedVoice({ history: [turn("0", man)] });
    assert.deepEqual(
      [asMan.start, asMan.followed, asMan.turns],
      ["am_michael", ["pitch", "level", "rate", "pauses"], [0]],
    );
    const asWoman = await followedVoice({ history: [turn("1", woman)], speaker: "1" });
    assert.equal(asWoman.start, "af_heart");
  });

  test("starts from the same voice whatever was measured before", async () => {
    const fresh = await openTiny();
    const { report } = await speakAll(fresh, { history: [turn("0", man)] });
    assert.equal(report.voice?.start, (await said({ history: [turn("0", man)] })).voice?.start);
    await fresh.close();
  });

  test("follows a chosen recording like the speaker's own turn", async () => {
    const [byTurn, byVoice] = [await said({ history: [turn("0", man)] }), await said({ voice: chosen(man) })];
    assert.ok(byVoice.bytes.equals(byTurn.bytes));
    assert.deepEqual([byVoice.voice?.turns, byTurn.voice?.turns], [[], [0]]);
  });

  test("keeps its voice without clips, or when one of its voices is chosen", async () => {
    const plain = await said({});
    assert.equal(plain.voice, undefined);
    const named = await said({ history: [turn("0", man)], voice: [{ weight: 1, id: "af_heart" }] });
    assert.ok(named.bytes.equals(plain.bytes));
  });

  test("follows no clip without a voice, and names the caution", async () => {
    const { bytes, voice } = await said({ history: [turn("0", hiss)] });
    assert.ok(bytes.equals((await said({})).bytes));
    assert.deepEqual([voice?.start, voice?.followed, voice?.cautions], ["af_heart", [], ["no voice"]]);
  });

  test("takes a little of another's level and pace", async () => {
    const voice = await followedVoice({ history: [turn("1", woman)] });
    assert.deepEqual([voice.start, voice.entrainedBy, voice.pitchSemitones], ["af_heart", 0, 0]);
    assert.ok(Math.abs(voice.levelDb) <= 3 && Math.abs(Math.log(voice.rate)) <= Math.log(1.05) + 1e-9);
  });

  test("speaks the same after analyseHistory", async () => {
    const script = { history: [turn("0", man)], text: LONG_TEXT };
    const other = await openTiny(folder);
    await other.analyseHistory!(scriptOf(script), never());
    const { frames } = await speakAll(other, script);
    assert.ok(bytesOf(frames).equals((await said(script)).bytes));
    await other.close();
  });

  test("ends its analysis on an abort", async () => {
    const script = scriptOf({ history: [turn("0", clip(man.samples, "another"))] });
    const stop = new AbortController();
    const hearing = model.analyseHistory!(script, stop.signal);
    stop.abort(new Error("gone"));
    await assert.rejects(hearing, /gone/);
  });
});
