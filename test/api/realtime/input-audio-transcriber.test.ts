import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AudioSpan, InputAudioTranscriber } from "../../../src/api/realtime/input-audio-transcriber.ts";
import { KeyedSemaphore } from "../../../src/limits/keyed-semaphore.ts";
import { ScriptedRecogniser, segmentOf } from "../../recognition/scripted-recogniser.ts";
import { known, SteppedRecogniser } from "../../serving/stepped-recogniser.ts";
import { until } from "../../waiting.ts";

const S = 16_000;

function open() {
  const recogniser = new ScriptedRecogniser([segmentOf("And then.", 0)]);
  const gone = new AbortController();
  const failures: unknown[] = [];
  const partials: string[] = [];
  const transcriber = new InputAudioTranscriber({
    recogniser,
    slots: openSlots(8),
    keyId: "key_a",
    read: (from, to) => new Float32Array(Math.max(0, to - from)),
    onPartial: (partial) => partials.push(partial.stable),
    onFailure: (error) => failures.push(error),
    signal: gone.signal,
  });
  const texts: (string | null)[] = [];
  const onText = (text: string | null) => texts.push(text);
  const recognise = (revision: number, from: number, to: number) =>
    transcriber.transcribe(revision, spanOf(from, to), onText);
  const draft = (from: number, to: number, wantsPartials = true) =>
    transcriber.transcribePartial({ ...spanOf(from, to), wantsPartials }, false);
  const received = (count: number) => until(`${count} transcripts`, () => texts.length >= count);
  const drafted = (count: number) => until(`${count} drafts`, () => partials.length >= count);
  const requested = (count: number) => until(`${count} requests`, () => recogniser.asked.length === count);
  const stopped = () => until("a request to stop", () => recogniser.stopped.length === 1);
  const seconds = () => recogniser.clips.map(({ samples }) => samples.length / S);
  const found = { texts, partials, failures, seconds };
  return { ...found, transcriber, recogniser, recognise, draft, gone, received, drafted, requested, stopped };
}

function spanOf(from: number, to: number): AudioSpan {
  return { from, to, language: null, prompt: null, wantsPartials: false };
}

function openSlots(total: number): KeyedSemaphore {
  const options = { queueDepth: 8, keyQueueDepth: 8, waitMs: 30_000 };
  return new KeyedSemaphore({ what: "turns", total, perKey: total, ...options });
}

/** Opens sessions that share one place at a recogniser. Their clips are named after the session and its revision. */
function openSessions() {
  const recogniser = new SteppedRecogniser();
  const slots = openSlots(1);
  const texts: string[] = [];
  const failures: unknown[] = [];
  const session = (keyId: string, name: string) => {
    let digest = name;
    const read = () => {
      const samples = new Float32Array(16);
      known({ samples, sampleRateHz: S, durationS: 1, digest, isGivenAway: true });
      return samples;
    };
    const { signal } = new AbortController();
    const parts = {
      recogniser,
      slots,
      keyId,
      read,
      onPartial: () => {},
      onFailure: (error: unknown) => failures.push(error),
      signal,
    };
    const transcriber = new InputAudioTranscriber(parts);
    const span = { ...spanOf(0, S), wantsPartials: true };
    const onText = (text: string | null) => texts.push(`${name}: ${text}`);
    return {
      pause() {
        digest = `${name} paused`;
        transcriber.transcribe(1, span, onText);
      },
      commit() {
        transcriber.keep(1);
      },
      draft(need: "now" | "soon") {
        digest = `${name} ${need}`;
        transcriber.transcribePartial(span, need === "now");
      },
    };
  };
  /** Finishes each recognition in turn, and returns the clips from the next one. */
  const order = async (count: number) => {
    const first = recogniser.asked.length;
    for (let at = 0; at < count; at += 1) {
      for (const each of recogniser.underWay) each.finish();
      await until("the next", () => recogniser.asked.length > first + at);
    }
    return recogniser.digests.slice(first);
  };
  const begun = (digest: string) => until(digest, () => recogniser.digests.at(-1) === digest);
  return { session, recogniser, texts, failures, order, begun };
}

describe("a turn transcribed while it is spoken", () => {
  it("passes its own draft to the recogniser, not another turn's", async () => {
    const { recogniser, received, drafted, recognise, draft } = open();
    draft(0, 2 * S);
    await drafted(1);
    recognise(1, 0, 3 * S);
    await received(1);
    recognise(2, 5 * S, 6 * S);
    await received(2);
    const drafts = recogniser.asked.map((asked) => asked.draft?.text ?? null);
    assert.deepEqual(drafts, [null, "And then.", null]);
  });

  it("is not transcribed from its beginning each time once it is long", async () => {
    const { texts, received, recognise, seconds } = open();
    for (const [revision, s] of [2, 8, 16, 20, 33, 36, 52, 60].entries()) {
      recognise(revision, 0, s * S);
      await received(revision + 1);
    }
    assert.deepEqual(seconds(), [2, 8, 16, 4, 17, 3, 19, 8]);
    assert.equal(texts.at(-1), "And then. And then. And then. And then.");
  });

  it("is transcribed after its latest sentence, if a pause followed that", async () => {
    for (const [text, lengthS, pausesFirst, nextS] of [
      ["And then.", 2, false, 3],
      ["And then?", 2, true, 3],
      ["And then...", 2, false, 5],
      ["And then", 2, false, 5],
      ["And then.", 0.9, false, 5],
    ] as const) {
      const { transcriber, recogniser, texts, received, recognise, seconds } = open();
      recogniser.hear([segmentOf(text, 0)]);
      recognise(1, 0, lengthS * S);
      if (pausesFirst) transcriber.endSentence(1);
      await received(1);
      if (!pausesFirst) transcriber.endSentence(1);
      recogniser.hear([segmentOf("Well.", 0)]);
      recognise(2, 0, 5 * S);
      await received(2);
      assert.deepEqual(seconds(), [lengthS, nextS], text);
      assert.equal(texts[1], nextS === 3 ? `${text} Well.` : "Well.");
    }
  });

  it("is transcribed from its last sentence pause if a shorter pause followed", async () => {
    const { transcriber, received, recognise, seconds } = open();
    recognise(1, 0, 2 * S);
    transcriber.endSentence(1);
    await received(1);
    for (const revision of [2, 3]) {
      recognise(revision, 0, 2 * revision * S);
      await received(revision);
    }
    assert.deepEqual(seconds(), [2, 2, 4]);
  });

  it("keeps the language of its first sentence if that is clear", async () => {
    const { transcriber, recogniser, received, recognise } = open();
    recognise(1, 0, 2 * S);
    transcriber.endSentence(1);
    await received(1);
    recognise(2, 0, 3 * S);
    await received(2);
    assert.deepEqual(
      recogniser.asked.map(({ language }) => language),
      [null, "en"],
    );
  });

  it("is drafted unasked only after 6 s that were not transcribed", async () => {
    const { received, drafted, recognise, draft, seconds } = open();
    draft(0, 5 * S, false);
    recognise(1, 0, 3 * S);
    await received(1);
    draft(0, 8 * S, false);
    draft(0, 9 * S, false);
    await drafted(2);
    assert.deepEqual(seconds(), [3, 9]);
  });

  it("reports the words that two transcripts agree on, and whole sentences", async () => {
    const { transcriber, recogniser, partials, drafted, recognise, draft } = open();
    for (const [at, text] of ["We went two", "We went to the", "We went to the sea."].entries()) {
      recogniser.hear([segmentOf(text, 0)]);
      if (at < 2) draft(0, (2 + at) * S);
      else recognise(1, 0, 4 * S);
      await drafted(at + 1);
    }
    transcriber.endSentence(1);
    assert.deepEqual(partials, ["", "We went", "We went to the", "We went to the sea."]);
  });

  it("is stopped when it is superseded, but not once it is kept", async () => {
    const { transcriber, recogniser, received, requested, stopped, recognise } = open();
    recogniser.hold();
    recognise(1, 0, S);
    await requested(1);
    recognise(2, 0, 2 * S);
    await stopped();
    transcriber.keep(2);
    recognise(3, 4 * S, 5 * S);
    await requested(3);
    recogniser.release();
    await received(2);
    assert.equal(recogniser.stopped.length, 1);
  });

  it("is not drafted during a transcription or if it is too long", async () => {
    const { recogniser, received, recognise, draft } = open();
    recogniser.hold();
    recognise(1, 0, S);
    draft(0, 2 * S);
    recogniser.release();
    await received(1);
    draft(0, 29 * S);
    recognise(2, 0, 30 * S);
    await received(2);
    assert.equal(recogniser.asked.length, 2);
  });

  it("waits for room while two committed turns are transcribed", async () => {
    const { transcriber, recogniser, received, requested, recognise } = open();
    recogniser.hold();
    for (const revision of [1, 2]) {
      recognise(revision, revision * S, (revision + 1) * S);
      transcriber.keep(revision);
    }
    let hasRoom = false;
    const room = transcriber.waitForRoom().then(() => {
      hasRoom = true;
    });
    await requested(2);
    assert.ok(!hasRoom);
    recogniser.release();
    await room;
    await received(1);
  });

  it("has a null transcript if the recogniser fails, and none after the session ends", async () => {
    const { recogniser, texts, failures, received, requested, stopped, recognise, gone } = open();
    recogniser.fail(new Error("scripted"));
    recognise(1, 0, S);
    await received(1);
    assert.deepEqual(texts, [null]);
    assert.equal(failures.length, 1);
    recogniser.hold();
    recognise(2, 0, S);
    await requested(2);
    gone.abort(new Error("gone"));
    await stopped();
    assert.equal(texts.length, 1);
  });
});

describe("the recogniser of several sessions", () => {
  it("transcribes finished turns first, then pauses, then drafts; keys in turn", async () => {
    const { session, order, begun } = openSessions();
    session("a", "first").pause();
    await begun("first paused");
    session("a", "a1").draft("soon");
    session("a", "a2").pause();
    const committed = session("a", "a3");
    committed.pause();
    session("a", "a4").draft("now");
    session("b", "b1").pause();
    committed.commit();
    assert.deepEqual(await order(5), ["a3 paused", "b1 paused", "a2 paused", "a4 now", "a1 soon"]);
  });

  it("gives up a draft that more urgent work waits for", async () => {
    const { session, texts, recogniser, begun } = openSessions();
    const drafting = session("a", "a1");
    drafting.draft("soon");
    await begun("a1 soon");
    session("a", "a2").draft("soon");
    assert.equal(recogniser.asked[0]!.signal.aborted, false);
    session("b", "b1").pause();
    assert.equal(recogniser.asked[0]!.signal.aborted, true);
    await begun("b1 paused");
    assert.deepEqual(texts, []);
  });

  it("does not give up a draft that decides about an interruption", async () => {
    const { session, recogniser, begun } = openSessions();
    session("a", "a1").draft("now");
    await begun("a1 now");
    session("b", "b1").pause();
    assert.equal(recogniser.asked[0]!.signal.aborted, false);
  });
});
