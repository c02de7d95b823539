import assert from "node:assert/strict";
import { cp, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import type { Frame, SpeechModel } from "../../../src/core/speech-model.ts";
import { createParametricModel } from "../../../src/engines/embedded/model.ts";
import { openNetwork } from "../../../src/engines/embedded/network.ts";
import { parseMarkup } from "../../../src/text/ssml/parse-markup.ts";
import {
  bytesOf,
  CountedText,
  LONG_TEXT,
  never,
  type ScriptParts,
  SHORT_TEXT,
  scriptOf,
  speakAll,
} from "../../core/scripts.ts";
import { speechModelConformance } from "../../core/speech-model-conformance.ts";
import { openVoice } from "./open-voice.ts";
import { tables, VOICE_DIR } from "./voice.ts";

speechModelConformance("The embedded voice", openVoice);

describe("An utterance of the embedded voice", () => {
  let model: SpeechModel;
  before(async () => {
    model = await openVoice();
  });
  after(() => model.close());

  test("is Spanish by the voices of its language's labels, which follow no recording and leave English voices English", async () => {
    const said = async (parts: ScriptParts) =>
      (await speakAll(model, { text: "Caza roja.", hasMouth: true, ...parts })).frames;
    const sounds = (frames: readonly Frame[]) =>
      frames.flatMap(({ mouth }) => mouth?.phonemes.map(({ name }) => name) ?? []).join("");
    const [samples, digest] = [new Float32Array(24_000), ""];
    const sample = { clip: { samples, sampleRateHz: 24_000, durationS: 1, digest }, text: null };
    for (const [at, id] of ["13", "14"].entries()) {
      const asked = { language: "es", speaker: `${at}` };
      const frames = await said(asked);
      assert.equal(sounds(frames), "kaθaroxa");
      assert.ok(bytesOf(frames).equals(bytesOf(await said({ voice: [{ weight: 1, id }] }))));
      await assert.rejects(said({ ...asked, voice: [{ weight: 1, sample }] }), /recording in English only/);
      const { piece } = parseMarkup("[voice:a]Caza roja.", null, ([name = ""]) => name);
      const textVoices = { a: { voice: [{ weight: 1, id: "2" }] } };
      assert.equal(sounds(await said({ ...asked, text: piece, textVoices })), "kɑzəɹOʤə");
    }
  });

  test("plans only one sentence ahead", async () => {
    const text = new CountedText(["Rice is often served in round bowls. ", "Yes. ", "No. ", "Well."]);
    const speech = model.speak(scriptOf({ text }), never());
    await speech.next();
    assert.equal(text.pulls, 1);
    for (let frame = 0; frame < 8; frame++) await speech.next();
    assert.equal(text.pulls, 2);
    await speech.return({ stop: "finished", spoken: "" });
  });

  test("is the beginning of the whole when it is cut, except for a fade of 5 ms", async () => {
    const whole = bytesOf((await speakAll(model, { text: LONG_TEXT })).frames);
    for (const maxFrames of [16, 29, 45]) {
      const { frames } = await speakAll(model, { text: LONG_TEXT, delivery: { maxFrames } });
      const capped = bytesOf(frames);
      const same = capped.length - 4 * 120;
      assert.ok(capped.subarray(0, same).equals(whole.subarray(0, same)), `${maxFrames} frames`);
    }
  });

  test("reports the words up to its cut", async () => {
    const counts: number[] = [];
    for (let maxFrames = 16; maxFrames <= 128; maxFrames += 16) {
      const { report } = await speakAll(model, { text: LONG_TEXT, delivery: { maxFrames } });
      assert.ok(LONG_TEXT.startsWith(report.spoken), report.spoken);
      counts.push(report.spoken.split(/\s+/).length);
    }
    // 34 words in about 10 s, nearly 128 frames.
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
    );
    assert.ok(counts[0]! >= 3 && counts[0]! <= 6, `${counts}`);
    assert.ok(counts.at(-1)! >= 30, `${counts}`);
  });

  test("has visemes for all of its audio, also when cut in a pause", async () => {
    const whole = (await speakAll(model)).frames.length;
    const cuts = Array.from({ length: 25 }, (_, at) => ({ text: LONG_TEXT, maxFrames: 16 + at }));
    // The last word is too faint to sound.
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

  test("does not depend on earlier utterances or on how it is read", async () => {
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

  test("rejects an unknown speaker by name", async () => {
    const first = model.speak(scriptOf({ speaker: "99" }), never()).next();
    await assert.rejects(first, /no speaker "99", only 0,1/);
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

describe("openNetwork", () => {
  const folders: string[] = [];
  let voiceDir: string;
  beforeEach(async () => {
    voiceDir = await mkdtemp(join(tmpdir(), "antiphon-voice-"));
    folders.push(voiceDir);
    await cp(VOICE_DIR, voiceDir, { recursive: true });
  });
  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

  for (const [what, name, damage] of [
    ["truncated", "decoder", (file: string) => truncate(file, 4_000_000)],
    ["changed", "prosody", (file: string) => writeFile(file, "x", { flag: "r+" })],
  ] as const)
    test(`rejects a ${what} graph by its name`, async () => {
      const file = join(voiceDir, "split", `${name}.onnx`);
      await damage(file);
      await assert.rejects(openNetwork(voiceDir), new RegExp(`^Error: ${file} is damaged`));
    });

  test("and createParametricModel reject a missing graph by its name", async () => {
    const options = { voiceDir, tables: await tables() };
    await rm(join(voiceDir, "oov.onnx"));
    await assert.rejects(createParametricModel(options), /^Error: .*oov\.onnx is missing/);
    await rm(join(voiceDir, "split", "text.onnx"));
    await assert.rejects(createParametricModel(options), /^Error: .*text\.onnx is missing/);
  });
});
