import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { SpeechModel } from "../../../src/core/speech-model.ts";
import {
  bytesOf,
  CountedText,
  LONG_TEXT,
  never,
  SHORT_TEXT,
  scriptOf,
  speakAll,
} from "../../core/scripts.ts";
import { openVoice } from "./open-voice.ts";

describe("An utterance of the embedded voice", () => {
  let model: SpeechModel;
  before(async () => {
    model = await openVoice();
  });
  after(() => model.close());

  test("plans one sentence ahead and no more", async () => {
    const text = new CountedText(["Rice is often served in round bowls. ", "Yes. ", "No. ", "Well."]);
    const speech = model.speak(scriptOf({ text }), never());
    await speech.next();
    assert.equal(text.pulls, 1);
    for (let frame = 0; frame < 8; frame++) await speech.next();
    assert.equal(text.pulls, 2);
    await speech.return({ stop: "finished", spoken: "" });
  });

  test("that is capped is the beginning of the whole one, but for 5 ms of fading", async () => {
    const whole = bytesOf((await speakAll(model, { text: LONG_TEXT })).frames);
    for (const maxFrames of [16, 29, 45]) {
      const { frames } = await speakAll(model, { text: LONG_TEXT, delivery: { maxFrames } });
      const capped = bytesOf(frames);
      const same = capped.length - 4 * 120;
      assert.ok(capped.subarray(0, same).equals(whole.subarray(0, same)), `${maxFrames} frames`);
    }
  });

  test("that is capped tells its words up to the cut, more of them the later it comes", async () => {
    const counts: number[] = [];
    for (let maxFrames = 16; maxFrames <= 128; maxFrames += 16) {
      const { report } = await speakAll(model, { text: LONG_TEXT, delivery: { maxFrames } });
      assert.ok(LONG_TEXT.startsWith(report.spoken), report.spoken);
      counts.push(report.spoken.split(/\s+/).length);
    }
    // The text has 34 words in some 10 seconds: 128 frames are just about all of it.
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
    );
    assert.ok(counts[0]! >= 3 && counts[0]! <= 6, `${counts}`);
    assert.ok(counts.at(-1)! >= 30, `${counts}`);
  });

  test("has a shape of the mouth for all of its audio, also where it is capped in a pause", async () => {
    const whole = (await speakAll(model)).frames.length;
    const cuts = Array.from({ length: 25 }, (_, at) => ({ text: LONG_TEXT, maxFrames: 16 + at }));
    // Of this one the last word is so faint that its sound is left out.
    const faint = { text: "1,000 fine ! a", maxFrames: 512 };
    for (const { text, maxFrames } of [...cuts, { text: SHORT_TEXT, maxFrames: whole }, faint]) {
      const { frames } = await speakAll(model, { text, delivery: { maxFrames }, hasMouth: true });
      let untilS = 0;
      for (const { startS, endS } of frames.flatMap(({ mouth }) => mouth?.visemes ?? [])) {
        assert.equal(startS, untilS, `${maxFrames} frames`);
        untilS = endS;
      }
      const samples = frames.reduce((sum, frame) => sum + frame.samples.length, 0);
      assert.equal(untilS, samples / 24_000, `${maxFrames} frames`);
    }
  });

  test("does not depend on what the same thread spoke before, or on how it was read", async () => {
    const delivery = { temperature: 0.7, acousticTemperature: 0.7 };
    const first = bytesOf((await speakAll(model, { text: LONG_TEXT, delivery })).frames);
    const abandoned = model.speak(scriptOf({ text: LONG_TEXT, speaker: "1", delivery }), never());
    await abandoned.next();
    const slow = model.speak(scriptOf({ text: LONG_TEXT, delivery }), never());
    const frames = [];
    for (let next = await slow.next(); !next.done; next = await slow.next()) {
      frames.push(next.value);
      if (frames.length % 7 === 0) await speakAll(model, { text: "Meanwhile." });
    }
    assert.ok(bytesOf(frames).equals(first));
    await abandoned.return({ stop: "finished", spoken: "" });
  });

  test("of an unknown speaker is refused by name", async () => {
    await assert.rejects(
      model.speak(scriptOf({ speaker: "99" }), never()).next(),
      /no speaker "99", only 0,1/,
    );
  });

  test("fails as speech when the network does", async () => {
    const closing = await openVoice();
    const speech = closing.speak(scriptOf({ text: LONG_TEXT }), never());
    await speech.next();
    await closing.close();
    await assert.rejects(
      async () => {
        while (!(await speech.next()).done);
      },
      { name: "SpeechFailedError" },
    );
  });
});
