import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../src/audio/format.ts";
import type { Turn } from "../../src/core/conversation.ts";
import type { ChosenVoice } from "../../src/core/script.ts";
import {
  ConversationError,
  NothingToSpeakError,
  SpeechFailedError,
  type SpeechModel,
} from "../../src/core/speech-model.ts";
import { parseMarkup } from "../../src/text/ssml/parse-markup.ts";
import { bytesOf, CountedText, drain, LONG_TEXT, never, SHORT_TEXT, scriptOf, speakAll } from "./scripts.ts";

/** Abilities that a remote model may lack. */
export interface SpeechModelAbilities {
  readonly repeats: boolean;
  readonly takesSeeds: boolean;
  /** Reports words, and so which of them a cut reply contains. */
  readonly tellsWords: boolean;
}

const ALL: SpeechModelAbilities = { repeats: true, takesSeeds: true, tellsWords: true };

/**
 * Tests that every speech model has to pass. `make` is called for each model that a test closes. @param lacks
 * abilities that it lacks by nature
 */
export function speechModelConformance(
  name: string,
  make: () => Promise<SpeechModel>,
  lacks: readonly (keyof SpeechModelAbilities)[] = [],
): void {
  const able = { ...ALL, ...Object.fromEntries(lacks.map((ability) => [ability, false])) };
  const without = (ability: keyof SpeechModelAbilities) => ({
    skip: !able[ability] && `it lacks ${ability}`,
  });
  describe(`${name} as a SpeechModel`, () => {
    let model: SpeechModel;
    before(async () => {
      model = await make();
    });
    after(() => model.close());

    test("yields frames of 1920 finite samples in [-1, 1]", async () => {
      const { frames } = await speakAll(model, { text: LONG_TEXT });
      assert.ok(frames.length > 20, `${frames.length} frames`);
      const last = frames.length - 1;
      for (const [index, { samples }] of frames.entries()) {
        if (index < last) assert.equal(samples.length, FRAME_SAMPLES, `frame ${index}`);
        else
          assert.ok(samples.length >= 1 && samples.length <= FRAME_SAMPLES, `last frame: ${samples.length}`);
        assert.ok(
          samples.every((x) => x >= -1 && x <= 1),
          `frame ${index} leaves [-1, 1]`,
        );
      }
      assert.ok(frames.some(({ samples }) => samples.some((x) => Math.abs(x) > 0.02)));
    });

    test("reports that it finished, and what it spoke", async () => {
      const { report } = await speakAll(model, { text: LONG_TEXT });
      assert.equal(report.stop, "finished");
      assert.equal(report.spoken.trim(), LONG_TEXT);
    });

    test("speaks a text in pieces whole", async () => {
      const { report } = await speakAll(model, { text: new CountedText(["One moment. ", SHORT_TEXT]) });
      assert.equal(report.stop, "finished");
      assert.equal(report.spoken.replaceAll(/\s+/g, " ").trim(), `One moment. ${SHORT_TEXT}`);
    });

    test("blocks no other utterance while a text is still being written", async () => {
      let give = (_words: string): void => {};
      const late = new Promise<string>((resolve) => (give = resolve));
      const waiting = speakAll(model, { text: new CountedText(["One moment. ", late]) });
      for (const seed of [1n, 2n, 3n]) await speakAll(model, { text: LONG_TEXT, seed });
      give(SHORT_TEXT);
      const { report } = await waiting;
      assert.equal(report.stop, "finished");
      assert.equal(report.spoken.replaceAll(/\s+/g, " ").trim(), `One moment. ${SHORT_TEXT}`);
    });

    test("stops after the maximum number of frames, and reports it", async () => {
      const text = new CountedText([LONG_TEXT]);
      const { frames, report } = await speakAll(model, { text, delivery: { maxFrames: 16 } });
      assert.equal(frames.length, 16);
      assert.equal(frames.at(-1)?.samples.length, FRAME_SAMPLES);
      assert.equal(report.stop, "length");
      assert.ok(report.spoken.length > 0, report.spoken);
      if (able.tellsWords) assert.ok(report.spoken.length < LONG_TEXT.length, report.spoken);
      assert.ok(LONG_TEXT.startsWith(report.spoken.trim()), report.spoken);
    });

    test("pauses as long as the text asks, and does not speak marks", async () => {
      const ask = (text: string) =>
        speakAll(model, { text: parseMarkup(text, null, ([name = ""]) => name).piece });
      const samplesOf = ({ frames }: Awaited<ReturnType<typeof ask>>) =>
        frames.reduce((sum, { samples }) => sum + samples.length, 0);
      const [one, three] = [await ask("One. [pause:1s] Two."), await ask("One. [pause:3s] Two.")];
      if (able.repeats) assert.ok(Math.abs(samplesOf(three) - samplesOf(one) - 2 * SAMPLE_RATE_HZ) <= 1);
      else assert.ok(samplesOf(three) > 3 * SAMPLE_RATE_HZ);
      assert.equal(three.report.spoken.trim(), "One. [pause:3s] Two.");
      const capped = await speakAll(model, {
        text: parseMarkup("One. [pause:9s] Two.", null, ([name = ""]) => name).piece,
        delivery: { maxFrames: 50 },
      });
      assert.equal(capped.frames.length, 50);
      assert.equal(capped.report.stop, "length");
    });

    test("reports each word once, in order, with its frame and place", without("tellsWords"), async () => {
      const text = `🙂 ${LONG_TEXT}`;
      const { frames } = await speakAll(model, { text });
      const characters = [...text];
      let [endS, end] = [0, 0];
      const all: string[] = [];
      for (const [index, { words }] of frames.entries()) {
        assert.ok(words !== undefined, `frame ${index}`);
        for (const { word, startS, endS: until, offset, length } of words) {
          assert.equal(characters.slice(offset, offset + length).join(""), word);
          assert.ok(offset >= end && startS >= endS && until > startS, word);
          assert.equal(Math.floor((startS * SAMPLE_RATE_HZ) / FRAME_SAMPLES + 1e-6), index, word);
          [endS, end] = [until, offset + length];
          all.push(word);
        }
      }
      const samples = frames.reduce((sum, frame) => sum + frame.samples.length, 0);
      assert.ok(endS <= samples / SAMPLE_RATE_HZ + 1e-6);
      assert.deepEqual(all, LONG_TEXT.match(/[\p{L}\p{N}](?:\S*[\p{L}\p{N}])?/gu));
    });

    test("reports no word that a cut text lost", without("tellsWords"), async () => {
      const { frames, report } = await speakAll(model, { text: LONG_TEXT, delivery: { maxFrames: 20 } });
      const words = frames.flatMap((frame) => frame.words ?? []);
      assert.equal(report.stop, "length");
      assert.ok(words.length > 0 && words.at(-1)!.endS <= (20 * FRAME_SAMPLES) / SAMPLE_RATE_HZ + 1e-6);
    });

    test("reports that it finished if the maximum just suffices", async () => {
      const whole = await speakAll(model);
      const capped = await speakAll(model, { delivery: { maxFrames: whole.frames.length } });
      assert.equal(capped.report.stop, "finished");
      assert.equal(capped.frames.length, whole.frames.length);
      if (able.repeats) assert.ok(bytesOf(capped.frames).equals(bytesOf(whole.frames)));
    });

    test("repeats byte for byte at temperature 0, alone and among others", without("repeats"), async () => {
      const alone = bytesOf((await speakAll(model, { text: LONG_TEXT })).frames);
      const repeated = bytesOf((await speakAll(model, { text: LONG_TEXT })).frames);
      assert.ok(repeated.equals(alone), "two runs differ");
      const together = await Promise.all([
        speakAll(model, { text: LONG_TEXT }),
        speakAll(model, { text: SHORT_TEXT, speaker: "1", seed: 1n, delivery: { temperature: 1 } }),
        speakAll(model, { text: LONG_TEXT }),
      ]);
      assert.ok(bytesOf(together[0].frames).equals(alone), "the first among others differs");
      assert.ok(bytesOf(together[2].frames).equals(alone), "the last among others differs");
    });

    test("depends on the seed alone above temperature 0", without("takesSeeds"), async () => {
      const delivery = { temperature: 1, acousticTemperature: 1 };
      const [first, same, other] = [
        await speakAll(model, { seed: 1n, delivery }),
        await speakAll(model, { seed: 1n, delivery }),
        await speakAll(model, { seed: 2n, delivery }),
      ];
      assert.ok(bytesOf(same.frames).equals(bytesOf(first.frames)));
      assert.ok(!bytesOf(other.frames).equals(bytesOf(first.frames)));
    });

    test("has distinct speakers", async () => {
      const [zero, one] = [await speakAll(model, { speaker: "0" }), await speakAll(model, { speaker: "1" })];
      assert.ok(!bytesOf(zero.frames).equals(bytesOf(one.frames)));
    });

    test("speaks a chosen voice or refuses it, whatever the speaker", async () => {
      const own = await speakAll(model, { speaker: "0" });
      const speaking = speakAll(model, { speaker: "0", voice: [{ weight: 1, id: "1" }] });
      if ((await speaking.catch((error: unknown) => error)) instanceof ConversationError) return;
      const chosen = await speaking;
      assert.ok(!bytesOf(chosen.frames).equals(bytesOf(own.frames)));
      if (!able.repeats || !able.takesSeeds) return;
      const labelled = await speakAll(model, { speaker: "1" });
      assert.ok(bytesOf(chosen.frames).equals(bytesOf(labelled.frames)));
    });

    test("speaks a recording or mix or refuses it, and leaves it unchanged", async () => {
      const clip = turnOf(2, "a voice").audio ?? assert.fail("it has no sound");
      const sample: ChosenVoice = [{ weight: 1, sample: { clip, text: null } }];
      const mix: ChosenVoice = ["0", "1"].map((id) => ({ weight: 0.5, id }));
      const history = [turnOf(2)];
      for (const voice of [sample, mix]) {
        const speaking = speakAll(model, { voice, history });
        const outcome = await speaking.catch((error: unknown) => error);
        if (!(outcome instanceof ConversationError)) assert.equal((await speaking).report.stop, "finished");
      }
      assert.equal(clip.samples.length, SAMPLE_RATE_HZ);
    });

    test("refuses a text without a letter or digit before the first frame", async () => {
      for (const text of ["…", " — !? ", ""])
        await assert.rejects(model.speak(scriptOf({ text }), never()).next(), NothingToSpeakError, text);
    });

    test("skips a piece without a letter or digit", async () => {
      const { report } = await speakAll(model, { text: new CountedText(["Yes. ", "… ", "No."]) });
      assert.equal(report.stop, "finished");
    });

    test("throws the reason of an aborted signal before it pulls", async () => {
      const reason = new Error("gone");
      const text = new CountedText([SHORT_TEXT]);
      await assert.rejects(model.speak(scriptOf({ text }), AbortSignal.abort(reason)).next(), is(reason));
      assert.equal(text.pulls, 0);
    });

    test("throws the reason of an abort between frames", async () => {
      const { speech, reason, stop } = begin({ text: LONG_TEXT });
      await speech.next();
      stop();
      await assert.rejects(speech.next(), is(reason));
      assert.equal((await speech.next()).done, true);
    });

    test("throws the reason of an abort during a frame within a frame", async () => {
      const { speech, reason, stop } = begin({ text: LONG_TEXT });
      await speech.next();
      const inFlight = speech.next();
      stop();
      await assert.rejects(Promise.all([inFlight, speech.next()]), is(reason));
    });

    test("throws the reason of an abort while it waits for text", async () => {
      const text = new CountedText([new Promise<string>(() => {})]);
      const { speech, reason, stop } = begin({ text });
      const first = speech.next();
      stop();
      await assert.rejects(first, is(reason));
      assert.ok(text.isReleased);
    });

    test("frees the utterance and the text if the consumer leaves", async () => {
      const text = new CountedText([LONG_TEXT, "More."]);
      const speech = model.speak(scriptOf({ text }), never());
      await speech.next();
      await speech.return({ stop: "finished", spoken: "" });
      assert.equal((await speech.next()).done, true);
      assert.ok(text.isReleased);
    });

    test("pulls nothing before the first frame, and then one piece", async () => {
      const text = new CountedText([LONG_TEXT, new Promise<string>(() => {})]);
      const { speech, stop } = begin({ text });
      assert.equal(text.pulls, 0);
      for (let frame = 0; frame < 4; frame++) await speech.next();
      assert.equal(text.pulls, 1);
      stop();
    });

    test("yields all of a piece but its tail while it waits", async () => {
      const { frames } = await speakAll(model);
      const { speech, stop } = begin({ text: new CountedText([SHORT_TEXT, new Promise<string>(() => {})]) });
      for (let frame = 0; frame < frames.length - 6; frame++) assert.equal((await speech.next()).done, false);
      stop();
    });

    test("throws an error of the text's source", async () => {
      const failure = new TypeError("the writer fell asleep");
      const text = new CountedText([SHORT_TEXT, rejected(failure)]);
      await assert.rejects(drain(model.speak(scriptOf({ text }), never())), is(failure));
    });

    test("speaks sixteen utterances at once, each with its own text", async () => {
      const texts = Array.from({ length: 16 }, (_, index) => `${SHORT_TEXT} Number ${index}.`);
      const spoken = await Promise.all(texts.map((text) => speakAll(model, { text })));
      assert.deepEqual(
        spoken.map(({ report }) => report.spoken.trim()),
        texts,
      );
    });

    test("takes a history of 63 turns, and leaves it unchanged", async () => {
      const history = Array.from({ length: 63 }, (_, index): Turn => turnOf(index));
      const { report } = await speakAll(model, { history });
      assert.equal(report.stop, "finished");
      for (const { audio } of history) if (audio) assert.equal(audio.samples.length, SAMPLE_RATE_HZ);
    });

    test("speaks the same bytes before, during and after an analysis", without("repeats"), async () => {
      const history = await spokenHistory(model);
      const fresh = await make();
      const cold = bytesOf((await speakAll(fresh, { history })).frames);
      await fresh.close();
      const [meanwhile] = await Promise.all([speakAll(model, { history }), hear({ history })]);
      assert.ok(bytesOf(meanwhile.frames).equals(cold), "it listened meanwhile");
      await hear({ history });
      await hear({ history });
      const warm = await speakAll(model, { history });
      assert.ok(bytesOf(warm.frames).equals(cold), "it had listened");
    });

    test("throws the reason of an aborted analysis, and repeats it the same", async (context) => {
      if (model.analyseHistory === undefined) return context.skip("it does not listen");
      const history = await spokenHistory(model, "aborted");
      const reason = new Error("gone");
      await assert.rejects(
        model.analyseHistory(scriptOf({ history }), AbortSignal.abort(reason)),
        is(reason),
      );
      const leaving = new AbortController();
      const left = model.analyseHistory(scriptOf({ history }), leaving.signal);
      const patient = hear({ history });
      leaving.abort(reason);
      await assert.rejects(left, is(reason));
      await patient;
      const alone = new AbortController();
      const other = await spokenHistory(model, "left by all");
      const abandoned = model.analyseHistory(scriptOf({ history: other }), alone.signal);
      alone.abort(reason);
      await assert.rejects(abandoned, is(reason));
      const [first, second] = [await speakAll(model, { history }), await speakAll(model, { history: other })];
      assert.ok(bytesOf(first.frames).equals(bytesOf(second.frames)));
    });

    test("analyses no turns, turns without audio, and 63 turns", async () => {
      const turns = Array.from({ length: 63 }, (_, index): Turn => turnOf(index, `clip ${index}`));
      const written = turns.map((turn): Turn => ({ ...turn, text: turn.text ?? "Well.", audio: null }));
      for (const history of [[], written, turns]) {
        await hear({ history });
        assert.equal((await speakAll(model, { history })).report.stop, "finished");
      }
    });

    test("fails analyses when it closes", async (context) => {
      if (model.analyseHistory === undefined) return context.skip("it does not listen");
      const history = await spokenHistory(model);
      const closable = await make();
      const failing = assert.rejects(
        closable.analyseHistory!(scriptOf({ history }), never()),
        SpeechFailedError,
      );
      await Promise.all([closable.close(), failing]);
      await assert.rejects(closable.analyseHistory!(scriptOf({ history }), never()), SpeechFailedError);
    });

    test("fails open speech when it closes, and refuses more", async () => {
      const closable = await make();
      const speaking = closable.speak(scriptOf({ text: LONG_TEXT }), never());
      await speaking.next();
      const text = new CountedText([new Promise<string>(() => {})]);
      const waiting = closable.speak(scriptOf({ text }), never()).next();
      const failures = Promise.all([
        assert.rejects(drain(speaking), SpeechFailedError),
        assert.rejects(waiting, SpeechFailedError),
      ]);
      await Promise.all([closable.close(), failures]);
      await closable.close();
      await assert.rejects(closable.speak(scriptOf(), never()).next(), SpeechFailedError);
    });

    async function hear(parts: Parameters<typeof scriptOf>[0]): Promise<void> {
      await model.analyseHistory?.(scriptOf(parts), never());
    }

    function begin(parts: Parameters<typeof scriptOf>[0]) {
      const controller = new AbortController();
      const reason = new Error("the client has gone");
      const speech = model.speak(scriptOf(parts), controller.signal);
      return { speech, reason, stop: () => controller.abort(reason) };
    }
  });
}

function is(expected: Error): (thrown: unknown) => boolean {
  return (thrown) => thrown === expected;
}

function rejected(error: Error): Promise<never> {
  const promise = Promise.reject(error);
  promise.catch(() => {});
  return promise;
}

/** Returns one turn per speaker, spoken by the model itself. */
async function spokenHistory(model: SpeechModel, digest = "said"): Promise<readonly Turn[]> {
  const turns = ["1", "0"].map(async (speaker): Promise<Turn> => {
    const { frames } = await speakAll(model, { text: LONG_TEXT, speaker: speaker === "0" ? "1" : "0" });
    const samples = Float32Array.from(frames.flatMap((frame) => [...frame.samples]));
    const durationS = samples.length / SAMPLE_RATE_HZ;
    const audio = { samples, sampleRateHz: SAMPLE_RATE_HZ, durationS, digest: `${digest} ${speaker}` };
    return { speaker, text: null, audio };
  });
  return Promise.all(turns);
}

const A_SECOND = Float32Array.from({ length: SAMPLE_RATE_HZ }, (_, i) => 0.2 * Math.sin(i * 0.05));

/** Cycles through text, a second of audio, and both. */
function turnOf(index: number, digest = "a clip"): Turn {
  const samples = A_SECOND.slice();
  return {
    speaker: String(index % 2),
    text: index % 3 === 1 ? null : `This is turn ${index}.`,
    audio: index % 3 === 0 ? null : { samples, sampleRateHz: SAMPLE_RATE_HZ, durationS: 1, digest },
  };
}
