import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ENCODINGS } from "../../src/audio/encode/encoder.ts";
import { encodedSpeech } from "../../src/core/encoded-speech.ts";
import {
  type EncodedPiece,
  type Frame,
  SpeechFailedError,
  type SpeechReport,
  type SpokenWord,
} from "../../src/core/speech-model.ts";
import { createWorkerPool, type WorkerPool } from "../../src/workers/worker-pool.ts";
import { scriptOf } from "./scripts.ts";
import { createToneModel } from "./tone-model.ts";

const stays = () => new AbortController().signal;

async function fileOf(speech: AsyncGenerator<EncodedPiece, SpeechReport, void>) {
  const pieces: EncodedPiece[] = [];
  for (;;) {
    const step = await speech.next();
    if (!step.done) pieces.push(step.value);
    else {
      const samples = pieces.reduce((sum, { sampleCount }) => sum + sampleCount, 0);
      return { bytes: Buffer.concat(pieces.map(({ bytes }) => bytes)), samples, pieces, report: step.value };
    }
  }
}

/** Returns four frames of speech, and whether it has ended. */
function speaker(fail = false) {
  const state = { ended: false };
  async function* speak(): AsyncGenerator<Frame, SpeechReport, void> {
    try {
      for (let index = 0; index < 4; index++) yield { samples: new Float32Array(1_920).fill(0.1) };
      if (fail) throw new SpeechFailedError("the thread died");
      return { stop: "finished", spoken: "Hello." };
    } finally {
      state.ended = true;
    }
  }
  return { state, speech: speak() };
}

async function wordsOf(speech: AsyncGenerator<Frame | EncodedPiece, SpeechReport, void>) {
  const words: SpokenWord[] = [];
  for await (const each of speech) words.push(...(each.words ?? []));
  return words;
}

describe("speech as a file", () => {
  let pool: WorkerPool;
  before(async () => {
    const entry = new URL("./tone-model.js", import.meta.url);
    pool = await createWorkerPool({ entry, create: {}, size: 2 });
  });
  after(() => pool.close());

  test("has each word once, in order", async () => {
    const words = await wordsOf(pool.speak(scriptOf(), stays()));
    assert.ok(words.length > 0);
    for (const encoding of ENCODINGS)
      assert.deepEqual(await wordsOf(pool.speakEncoded(scriptOf(), encoding, stays())), words, encoding);
  });

  for (const encoding of ENCODINGS) {
    test(`is the same ${encoding} from a thread, and counts every sample once`, async () => {
      const tone = await createToneModel();
      const script = scriptOf({ text: "One way. Two ways." });
      const here = await fileOf(encodedSpeech(tone.speak(script, stays()), encoding, script.seed));
      const again = scriptOf({ text: "One way. Two ways." });
      const there = await fileOf(pool.speakEncoded(again, encoding, stays()));
      assert.ok(there.bytes.equals(here.bytes));
      assert.deepEqual([here.samples, there.samples], [18 * 1_440, 18 * 1_440]);
      assert.deepEqual({ ...there.report }, { ...here.report });
      assert.ok(there.pieces.every(({ bytes }) => bytes.length > 0));
      await tone.close();
    });
  }

  test("ends when its listener leaves", async () => {
    const { state, speech } = speaker();
    const file = encodedSpeech(speech, "mp3", 1n);
    await file.next();
    await file.return({ stop: "length", spoken: "" });
    assert.equal(state.ended, true);
  });

  test("fails as the speech does", async () => {
    const { state, speech } = speaker(true);
    await assert.rejects(fileOf(encodedSpeech(speech, "opus", 1n)), SpeechFailedError);
    assert.equal(state.ended, true);
  });
});
