import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ConversationError, type Frame, SpeechFailedError } from "../../../../src/core/speech-model.ts";
import { BusyError, type Utterance } from "../../../../src/engines/codec-lm/codec-language-model.ts";
import { CheckpointError, OptionError } from "../../../../src/engines/codec-lm/fields.ts";
import { countLetters } from "../../../../src/engines/codec-lm/speech/segments.ts";
import { bytesOf, CountedText, drain, never, scriptOf, speakAll } from "../../../core/scripts.ts";
import { type Behaviour, ScriptedModel, speechOver, tone } from "./scripted-model.ts";

const EIGHT = "One. Two. Three. Four. Five. Six. Seven. Eight. ";
/** More than one segment. */
const TWO_PARTS = `${"All of this is one sentence of some fifty letters. ".repeat(5)}And this is another, which does not fit in with them. `;

const always = (behaviour: Behaviour) => () => behaviour;
const samplesOf = (frames: readonly Frame[]): number[] => frames.flatMap(({ samples }) => [...samples]);

function loudness(samples: readonly number[]): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length);
}

function largestStep(samples: readonly number[]): number {
  return Math.max(
    ...samples.slice(1).map((sample, at) => Math.abs(sample - samples[at]!)),
    Math.abs(samples.at(-1)!),
  );
}

describe("speakUtterance", () => {
  test("passes parameters, text and options to the model", async () => {
    const presets = { kind: "presets", presets: ["ryan", "serena"] } as const;
    const model = new ScriptedModel(always({ levels: tone(3) }), presets);
    const speech = await speechOver(model, { language: "english", instruct: "Slowly." });
    const delivery = {
      temperature: 0.8,
      acousticTemperature: 0.4,
      topK: 40,
      repetitionPenalty: 2,
      penaltyWindow: 30,
    };
    const { report } = await speakAll(speech, { text: "[Ciao](/tʃaʊ/),\nBob!", delivery, seed: 11n });
    const [{ open, sampling, options, seed, history, uniforms, mayDropTurns }] = model.asked as [Utterance];
    assert.deepEqual(open, { speaker: "0", text: "Ciao, Bob!" });
    assert.deepEqual({ ...sampling, maxFrames: 0 }, { ...delivery, maxFrames: 0 });
    assert.deepEqual(Object.fromEntries(options), {
      language: "english",
      instruct: "Slowly.",
      speaker: "serena",
    });
    assert.deepEqual([seed, history, uniforms, mayDropTurns], [11n, [], null, true]);
    assert.equal(report.spoken, "[Ciao](/tʃaʊ/),\nBob!");
    assert.deepEqual(report.prompt, { turns: [], heard: [], forgotten: [], cautions: [] });
  });

  test("speaks some sentences at a time, with the earlier ones as history", async () => {
    const model = new ScriptedModel(always({ levels: tone(60) }));
    const speech = await speechOver(model);
    const { frames, report } = await speakAll(speech, { text: TWO_PARTS.repeat(3) });
    assert.equal(report.spoken, TWO_PARTS.repeat(3));
    assert.equal(model.asked.map(({ open }) => open.text).join(" "), TWO_PARTS.repeat(3).trimEnd());
    assert.equal(new Set(model.asked.map(({ seed }) => seed)).size, model.asked.length);
    const [first, second] = model.asked as [Utterance, Utterance];
    assert.equal(first.history.length, 0);
    const [before] = second.history;
    assert.deepEqual([before!.speaker, before!.text], ["0", first.open.text]);
    assert.deepEqual(
      before!.codes,
      Array.from({ length: 60 }, (_, at) => [at]),
    );
    assert.equal(before!.audio!.length, 60 * 1_920);
    // Four segments of 60 frames are less than 20 s.
    assert.deepEqual(
      model.asked.map(({ history }) => history.length),
      model.asked.map((_, at) => Math.min(at, 4)),
    );
    // Two frames of silence between segments.
    assert.equal(frames.length, 62 * model.asked.length - 2 + 1);
  });

  test("divides 8,000 characters into segments, without loss", async () => {
    const texts = {
      "one word": "a".repeat(8_000),
      words: "word ".repeat(1_600),
      clauses: "no end, ".repeat(1_000),
      sentences: EIGHT.repeat(170).slice(0, 8_000),
      Chinese: "我们今天说得很慢，但是说得很久。".repeat(500),
      emoji: "🎉👩‍👩‍👧 hi ".repeat(600).slice(0, 8_000),
      phonemes: "[tomato](/təmɑːtoʊ təmeɪtoʊ/) ".repeat(260),
      lines: "A line\n".repeat(1_100),
    };
    for (const [name, text] of Object.entries(texts)) {
      const model = new ScriptedModel(always({ levels: tone(1) }));
      const { report } = await speakAll(await speechOver(model), { text, delivery: { maxFrames: 2_048 } });
      assert.equal(report.spoken, text, name);
      const spoken = model.asked.map(({ open }) => open.text);
      for (const part of spoken) {
        assert.ok(part === part.trim() && part !== "" && countLetters(part) <= 310, name);
        assert.doesNotMatch(part, /[\u200d]$|^\u200d/, name);
      }
      assert.ok(spoken.length < 170, `${name}: ${spoken.length} segments`);
      const plain = text.replaceAll(/\[tomato\]\([^)]*\)/g, "tomato").replaceAll(/\s/g, "");
      assert.equal(spoken.join("").replaceAll(" ", ""), plain, name);
    }
  });

  test("begins with the first piece of its text, and pauses for a late one", async () => {
    let give = (_words: string): void => {};
    const late = new Promise<string>((resolve) => (give = resolve));
    const model = new ScriptedModel(always({ levels: tone(8) }));
    const speech = (await speechOver(model)).speak(
      scriptOf({ text: new CountedText(["One. ", late]) }),
      never(),
    );
    for (let frame = 0; frame < 8; frame++) assert.equal((await speech.next()).done, false);
    assert.equal(model.asked.length, 1);
    const next = speech.next();
    give("Two.");
    assert.equal((await next).done, false);
    const { frames, report } = await drain(speech);
    assert.equal(report.spoken, "One. Two.");
    assert.equal(frames.length, 1 + 8 + 1);
    assert.deepEqual(
      model.asked.map(({ open }) => open.text),
      ["One.", "Two."],
    );
  });

  test("limits all segments together, and reports the cut", async () => {
    const model = new ScriptedModel(always({ levels: tone(20) }));
    const speech = await speechOver(model);
    const text = () => new CountedText(["One. ", "Two. ", "Three."]);
    const by = async (maxFrames: number) => {
      model.asked.splice(0);
      const { frames, report } = await speakAll(speech, { text: text(), delivery: { maxFrames } });
      return [frames.length, report.stop, report.spoken, model.asked.length];
    };
    assert.deepEqual(await by(16), [16, "length", "One. ", 1]);
    // No room for a second segment.
    assert.deepEqual(await by(20), [20, "length", "One. ", 1]);
    assert.deepEqual(await by(22), [22, "length", "One. ", 1]);
    assert.deepEqual(await by(23), [23, "length", "One. Two. ", 2]);
    assert.deepEqual(await by(64), [64, "finished", "One. Two. Three.", 3]);
    assert.deepEqual(await by(63), [63, "length", "One. Two. Three.", 3]);
    assert.ok(model.asked.every(({ sampling }) => sampling.maxFrames! <= 64));
  });

  test("cuts a segment without an end at twice its length, and continues", async () => {
    const model = new ScriptedModel((_, call) => ({ levels: call === 0 ? () => 0.5 : tone(5) }));
    const text = new CountedText(["This one never ends. ", "But this one does."]);
    const { frames, report } = await speakAll(await speechOver(model), { text });
    const seconds = ((frames.length - 5 - 2) * 1_920) / 24_000;
    assert.ok(seconds > 6 && seconds < 10, `${seconds} s`);
    assert.equal(report.stop, "finished");
    assert.equal(report.spoken, "This one never ends. But this one does.");
    assert.deepEqual(report.prompt?.cautions, ["cut short: no end came"]);
    assert.deepEqual(report.prompt?.turns, []);
    assert.deepEqual(model.asked[1]!.history, [], "a failed segment is no history");
    assert.equal(model.open, 0);
  });

  test("leaves a segment after three seconds of silence", async () => {
    const model = new ScriptedModel((_, call) => ({
      levels: call === 0 ? (at) => (at < 10 ? 0.5 : 0.001) : tone(5),
    }));
    const text = new CountedText(["This one falls silent, and nobody knows why. ", "But this one does not."]);
    const { frames, report } = await speakAll(await speechOver(model), { text });
    assert.equal(frames.length, 10 + 38 + 5 + 1);
    assert.deepEqual(report.prompt, {
      turns: [],
      heard: [],
      forgotten: [],
      cautions: ["cut short: nothing but silence came any more"],
    });
    assert.equal(model.asked[1]!.history[0]!.codes!.length, 10 + 2);
  });

  test("starts again where the likeliest beginning is silence", async () => {
    const model = new ScriptedModel(({ sampling }) => ({
      levels: sampling.temperature === 0 ? () => 0 : tone(5),
    }));
    const speech = await speechOver(model);
    const first = await speakAll(speech);
    assert.equal(first.frames.length, 5 + 1);
    assert.deepEqual(first.report.prompt?.cautions, ["begun again: at first nothing but silence came"]);
    const [once, again] = model.asked as [Utterance, Utterance];
    assert.deepEqual([again.sampling.temperature, again.sampling.acousticTemperature], [0.7, 0.7]);
    assert.notEqual(again.seed, once.seed);
    const second = await speakAll(speech);
    assert.deepEqual(bytesOf(second.frames), bytesOf(first.frames));
    assert.deepEqual([model.asked[2]!.seed, model.asked[3]!.seed], [once.seed, again.seed]);
  });

  test("allows less than a second of silence at first, and any when it is sampled", async () => {
    const model = new ScriptedModel(always({ levels: [...tone(6, 0), ...tone(5)] }));
    const speech = await speechOver(model);
    const drawn = speech.speak(scriptOf({ delivery: { temperature: 0.7 } }), never());
    assert.ok(loudness(samplesOf([(await drawn.next()).value as Frame])) < 0.001);
    await drawn.return({ stop: "length", spoken: "" });
    const { frames, report } = await speakAll(speech);
    assert.equal(frames.length, 11 + 1);
    assert.deepEqual(report.prompt?.cautions, []);
    assert.equal(model.open, 0);
  });

  test("tries an empty segment twice, then skips it, and fails if it was all", async () => {
    const model = new ScriptedModel(({ open }) => ({ levels: open.text === "One." ? [] : tone(5) }));
    const speech = await speechOver(model);
    for (const temperature of [0, 1]) {
      model.asked.splice(0);
      const text = new CountedText(["One. ", "Two."]);
      const { report } = await speakAll(speech, { text, delivery: { temperature } });
      assert.deepEqual(
        model.asked.map(({ open }) => open.text),
        ["One.", "One.", "Two."],
      );
      assert.equal(report.prompt?.cautions.at(-1), "left out: nothing came");
    }
    await assert.rejects(speakAll(speech, { text: "One." }), /ended before its first frame, twice/);
    await assert.rejects(speakAll(speech, { text: "One." }), SpeechFailedError);
  });

  test("lets later segments wait for a slot", async () => {
    const model = new ScriptedModel(always({ levels: tone(5) }));
    const text = new CountedText(["One. ", "Two."]);
    const { report } = await speakAll(await speechOver(model), { text });
    assert.equal(report.stop, "finished");
    assert.deepEqual(
      model.asked.map(({ open, mayWait }) => [open.text, mayWait]),
      [
        ["One.", false],
        ["Two.", true],
      ],
    );
  });

  test("reports that the model has no positions left", async () => {
    const model = new ScriptedModel(always({ levels: tone(5), ending: { stop: "length" } }));
    const { report } = await speakAll(await speechOver(model));
    assert.deepEqual(report.prompt?.cautions, ["cut short: the model has no room for more"]);
  });

  test("has no clicks between segments, at its end or at a cut", async () => {
    // A tone that ends and begins at its crest.
    const model = new ScriptedModel(always({ levels: tone(20) }), {}, 100);
    const speech = await speechOver(model);
    const gentle = 2 * 0.5 * Math.sin((Math.PI * 100) / 24_000) + 0.004;
    const text = () => new CountedText(["One. ", "Two."]);
    for (const maxFrames of [16, 20, 21, 22, 30, 42, 512]) {
      const { frames } = await speakAll(speech, { text: text(), delivery: { maxFrames } });
      const step = largestStep(samplesOf(frames));
      assert.ok(step < gentle, `${maxFrames}: a step of ${step}`);
    }
  });

  test("narrows the band for lower qualities, and changes nothing else", async () => {
    const powerOf = async (toneHz: number, quality: "low" | "medium" | "high") => {
      const model = new ScriptedModel(always({ levels: tone(20) }), {}, toneHz);
      const { frames } = await speakAll(await speechOver(model), { delivery: { quality } });
      return 20 * Math.log10(loudness(samplesOf(frames.slice(2, 18))) / (0.5 * Math.SQRT1_2));
    };
    for (const quality of ["low", "medium", "high"] as const)
      assert.ok(Math.abs(await powerOf(1_000, quality)) < 0.1, quality);
    assert.ok(Math.abs(await powerOf(11_000, "high")) < 0.1);
    assert.ok(Math.abs((await powerOf(7_000, "medium")) + 3) < 0.2);
    assert.ok((await powerOf(9_000, "medium")) < -20);
    assert.ok(Math.abs((await powerOf(4_000, "low")) + 3) < 0.2);
    assert.ok((await powerOf(5_200, "low")) < -20);
  });

  test("stays within [-1, 1]", async () => {
    const model = new ScriptedModel(always({ levels: tone(5, 3) }));
    const { frames } = await speakAll(await speechOver(model));
    assert.ok(samplesOf(frames).every((sample) => Math.abs(sample) <= 1));
  });
});

describe("An error of a codec language model", () => {
  const thrown = async (error: Error) =>
    await speakAll(
      await speechOver(new ScriptedModel((_, call) => (call === 0 ? { levels: [] } : { levels: [], error }))),
    ).then(
      () => assert.fail("no failure"),
      (found: unknown) => found as Error,
    );

  test("is a ConversationError, a lasting or a temporary failure", async () => {
    const message = "The conversation is too long: leave out its earliest turns.";
    const long = await thrown(new CheckpointError(message));
    assert.ok(long instanceof ConversationError);
    assert.match(long.message, /leave out its earliest turns/);
    for (const error of [new OptionError("no option tempo"), new Error("out of memory")]) {
      const failed = await thrown(error);
      assert.ok(failed instanceof SpeechFailedError);
      assert.equal(failed.retryAfterMs, null);
      assert.equal(failed.message, error.message);
      assert.equal(failed.cause, error);
    }
    const busy = await thrown(new BusyError("one too many"));
    assert.ok(busy instanceof SpeechFailedError);
    assert.equal(busy.retryAfterMs, 2_000);
  });
});

describe("An abort of speakUtterance", () => {
  const reason = new Error("the client has gone");
  const is = (found: unknown): boolean => found === reason;

  test("ends the model's utterance in any phase", async () => {
    for (const frames of [0, 3, 8]) {
      const model = new ScriptedModel(always({ levels: tone(8) }));
      const controller = new AbortController();
      const text = new CountedText(["One. ", new Promise<string>(() => {})]);
      const speech = (await speechOver(model)).speak(scriptOf({ text }), controller.signal);
      for (let frame = 0; frame < frames; frame++) await speech.next();
      const next = speech.next();
      controller.abort(reason);
      await assert.rejects(Promise.all([next, speech.next()]), is, `after ${frames} frames`);
      assert.equal(model.open, 0);
      assert.ok(text.isReleased);
    }
  });

  test("by close fails what is open, and closes the model once", async () => {
    const model = new ScriptedModel(always({ levels: tone(8) }));
    const speech = await speechOver(model);
    const speaking = speech.speak(scriptOf(), never());
    await speaking.next();
    await Promise.all([speech.close(), speech.close()]);
    assert.ok(model.isClosed);
    await assert.rejects(speaking.next(), SpeechFailedError);
    assert.equal(model.open, 0);
  });
});
