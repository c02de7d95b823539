import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { freeClips } from "../../../src/core/free-memory.ts";
import { type Recogniser, RecogniserError, type Transcript } from "../../../src/core/recogniser.ts";
import { KeyedSemaphore, type KeyedSemaphoreOptions } from "../../../src/limits/keyed-semaphore.ts";
import {
  ClipTranscriber,
  joinTranscripts,
  TranscriptCache,
} from "../../../src/serving/transcribe/clip-transcriber.ts";
import fc from "../../properties.ts";
import { settle } from "../service-over.ts";
import { clipOf, SteppedRecogniser } from "../stepped-recogniser.ts";

const NEVER = new AbortController().signal;
const NOTHING_HEARD: Transcript = {
  text: "",
  language: "en",
  languageProbability: null,
  speechProbability: null,
  meanLogProbability: null,
  segments: [],
  transcribedS: 1,
};
const PLACES: KeyedSemaphoreOptions = {
  what: "turns being heard",
  total: 2,
  perKey: 1,
  queueDepth: 100,
  keyQueueDepth: 40,
  waitMs: 60_000,
};

function transcriberOver(places: Partial<KeyedSemaphoreOptions> = {}) {
  const recogniser = new SteppedRecogniser();
  const share = new KeyedSemaphore({ ...PLACES, ...places });
  const transcriber = new ClipTranscriber(recogniser, share);
  const transcribe = (digest: string, keyId = "a", signal = new AbortController().signal, durationS = 1) =>
    transcriber.transcribe(clipOf(digest, durationS), keyId, signal, () => {}).then(({ text }) => text);
  return { recogniser, share, transcriber, transcribe };
}

describe("a clip requested several times", () => {
  it("is transcribed once for all requests", async () => {
    const { recogniser, share, transcribe } = transcriberOver();
    const asked = [transcribe("one"), transcribe("one"), transcribe("one", "b"), transcribe("one", "c")];
    await settle();
    assert.deepEqual([recogniser.digests, share.used, share.queued], [["one"], 1, 0]);
    recogniser.asked[0]!.hearWindow("Hello.");
    recogniser.asked[0]!.finish();
    assert.deepEqual(await Promise.all(asked), ["Hello.", "Hello.", "Hello.", "Hello."]);
    assert.equal(await transcribe("one", "d"), "Hello.");
    assert.deepEqual([recogniser.asked.length, share.used], [1, 0]);
  });

  it("starts with the first admitted request, and the others leave the queue", async () => {
    const { recogniser, share, transcribe } = transcriberOver();
    const first = transcribe("other", "a");
    const asked = [transcribe("one", "a"), transcribe("one", "a"), transcribe("one", "b")];
    await settle();
    // Key b had a slot, so key a does not wait for the same clip.
    assert.deepEqual([recogniser.digests, share.queued], [["other", "one"], 0]);
    recogniser.asked[1]!.finish();
    recogniser.asked[0]!.finish();
    await Promise.all([first, ...asked]);
  });

  it("continues when one client disconnects, and stops with the last", async () => {
    const { recogniser, share, transcribe } = transcriberOver();
    const clients = ["first", "second"].map((name) => ({
      reason: new Error(name),
      stop: new AbortController(),
    }));
    const asked = clients.map(({ stop }) => transcribe("one", "a", stop.signal));
    await settle();
    clients[0]!.stop.abort(clients[0]!.reason);
    await assert.rejects(asked[0]!, clients[0]!.reason);
    assert.equal(recogniser.asked[0]!.signal.aborted, false);
    clients[1]!.stop.abort(clients[1]!.reason);
    await assert.rejects(asked[1]!, clients[1]!.reason);
    assert.equal(recogniser.asked[0]!.signal.reason, clients[1]!.reason);
    assert.deepEqual([share.used, share.queued], [0, 0]);
    // A new request does not wait for the aborted one.
    const again = transcribe("one");
    await settle();
    recogniser.asked[1]!.finish();
    await again;
  });

  it("is transcribed for the remaining clients after another freed its samples", async () => {
    const pieces: number[] = [];
    let goOn = (): void => {};
    const left = new Promise<void>((resolve) => (goOn = resolve));
    const recognise: Recogniser["recognise"] = async (sound, _options, signal) => {
      pieces.push((await sound.read(10, signal)).length);
      await left;
      pieces.push((await sound.read(10, signal)).length);
      return { ...NOTHING_HEARD, text: "Hello." };
    };
    const recogniser = {
      name: "",
      memoryBytesPerS: 0,
      canTranslate: false,
      recognise,
      close: async () => {},
    };
    const transcriber = new ClipTranscriber(recogniser, new KeyedSemaphore(PLACES));
    const [leaves, stays] = [clipOf("one"), clipOf("one")];
    const gone = new AbortController();
    const asked = [
      transcriber.transcribe(leaves, "a", gone.signal, () => {}),
      transcriber.transcribe(stays, "b", NEVER, () => {}),
    ];
    await settle();
    gone.abort(new Error("gone"));
    await assert.rejects(asked[0]!, /gone/);
    freeClips([{ speaker: "0", text: null, audio: leaves }]);
    goOn();
    assert.equal((await asked[1]!).text, "Hello.");
    assert.deepEqual(pieces, [10, 6]);
  });

  it("fails for all requests, and is retried by the next", async () => {
    const { recogniser, transcribe } = transcriberOver();
    const asked = [transcribe("one"), transcribe("one", "b")];
    await settle();
    const away = new RecogniserError("away");
    recogniser.asked[0]!.fail(away);
    for (const each of asked) await assert.rejects(each, away);
    const again = transcribe("one");
    await settle();
    assert.equal(recogniser.asked.length, 2);
    recogniser.asked[1]!.finish();
    await again;
  });
});

describe("a partly transcribed clip", () => {
  it("resumes at its end, in the detected language", async () => {
    const { recogniser, transcriber, transcribe } = transcriberOver();
    const leaving = new AbortController();
    const first = transcribe("long", "a", leaving.signal, 70);
    await settle();
    recogniser.asked[0]!.hearWindow("One.");
    recogniser.asked[0]!.hearWindow("Two.");
    leaving.abort(new Error("gone"));
    await assert.rejects(first, /gone/);
    const known = transcriber.known(clipOf("long", 70));
    assert.deepEqual(
      [known?.isWhole, known?.transcript.text, known?.transcript.transcribedS],
      [false, "One. Two.", 60],
    );
    const second = transcriber.transcribe(clipOf("long", 70), "b", NEVER, () => {});
    await settle();
    const { startAtS, language } = recogniser.asked[1]!.options;
    assert.deepEqual([startAtS, language], [60, "en"]);
    recogniser.asked[1]!.hearWindow("Three.");
    recogniser.asked[1]!.finish();
    const whole = await second;
    assert.equal(whole.text, "One. Two. Three.");
    assert.equal(whole.transcribedS, 70);
    assert.deepEqual(
      whole.segments.map(({ startS }) => startS),
      [0, 30, 60],
    );
  });

  it("yields the same transcript wherever and however often it was interrupted", async () => {
    const words = fc.array(fc.constantFrom("", "One.", "Two words.", "Three."), {
      minLength: 1,
      maxLength: 6,
    });
    const stops = fc.array(fc.nat(6), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(words, stops, async (windows, stopsAfter) => {
        const { recogniser, transcriber, transcribe } = transcriberOver();
        const durationS = windows.length * 30;
        let at = 0;
        for (const after of stopsAfter) {
          const leaving = new AbortController();
          const pending = transcribe("clip", "a", leaving.signal, durationS).catch(() => {});
          await settle();
          const stepping = recogniser.underWay[0];
          if (stepping === undefined) break;
          for (const end = Math.min(windows.length, at + after); at < end; at++)
            stepping.hearWindow(windows[at]!);
          leaving.abort(new Error("gone"));
          await pending;
        }
        const pending = transcriber.transcribe(clipOf("clip", durationS), "a", NEVER, () => {});
        await settle();
        for (const stepping of recogniser.underWay) {
          while (at < windows.length) stepping.hearWindow(windows[at++]!);
          stepping.finish();
        }
        const { text, transcribedS: heardS, segments } = await pending;
        const said = windows.filter((each) => each !== "");
        assert.deepEqual([text, heardS, segments.length], [said.join(" "), durationS, said.length]);
        const startsS = recogniser.asked.map(({ options }) => options.startAtS ?? 0);
        assert.deepEqual(
          startsS,
          startsS.toSorted((one, other) => one - other),
        );
      }),
      { numRuns: 100 },
    );
  });
});

describe("transcription keys", () => {
  it("are refused when the queue is full: 429 for their own, 502 for the shared one", async () => {
    const { recogniser, transcribe, transcriber } = transcriberOver({ keyQueueDepth: 2, queueDepth: 3 });
    const asked = (digests: readonly string[]) =>
      digests.map((digest) => {
        const pending = transcribe(digest, digest[0]!);
        pending.catch(() => {});
        return pending;
      });
    const ofA = asked(["a-1", "a-2", "a-3", "a-4"]);
    await assert.rejects(ofA[3]!, { status: 429, retryAfterMs: 1_000 });
    const others = asked(["b-1", "b-2", "c-1"]);
    await settle();
    // The shared queue holds three; its last entry belongs to key a.
    const message = /capacity \(turns being heard\)/;
    await assert.rejects(ofA[2]!, { status: 502, retryAfterMs: 1_000, message });
    assert.deepEqual(recogniser.digests, ["a-1", "b-1"]);
    transcriber.close();
    for (const each of [ofA[1]!, others[1]!, others[2]!])
      await assert.rejects(each, { status: 502, message: /shutting down/ });
    for (const stepping of recogniser.underWay) stepping.finish();
    await Promise.all([ofA[0], others[0]]);
  });

  it("never exceed their slots, repeat a clip or starve, in any order of events", async () => {
    const key = fc.constantFrom("a", "b", "c");
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ kind: fc.constant("ask" as const), key, clip: fc.nat(5) }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("leave" as const), who: fc.nat(20) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant("finish" as const), who: fc.nat(5) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("fail" as const), who: fc.nat(5) }) },
    );
    type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
    const run = async (steps: readonly Step[]) => {
      const { recogniser, share, transcribe } = transcriberOver();
      const asking = new Map<AbortController, { readonly key: string; readonly digest: string }>();
      for (const each of steps) {
        const { underWay } = recogniser;
        if (each.kind === "ask") {
          const gone = new AbortController();
          const digest = `clip-${each.clip}`;
          asking.set(gone, { key: each.key, digest });
          const over = () => void asking.delete(gone);
          transcribe(digest, each.key, gone.signal).then(over, over);
        } else if (each.kind === "leave") {
          [...asking.keys()][each.who % Math.max(1, asking.size)]?.abort(new Error("gone"));
        } else if (each.kind === "finish") underWay[each.who % Math.max(1, underWay.length)]?.finish();
        else underWay[each.who % Math.max(1, underWay.length)]?.fail(new RecogniserError("away"));
        await settle();
        const now = recogniser.underWay.map(({ clip }) => clip.digest);
        assert.ok(now.length <= 2);
        assert.equal(new Set(now).size, now.length, "a clip is transcribed twice at once");
        assert.equal(share.used, now.length);
        const wanted = new Set([...asking.values()].map(({ digest }) => digest));
        for (const digest of now) assert.ok(wanted.has(digest), "a recognition without a request");
        const inLine = [...asking.values()].filter(({ digest }) => !now.includes(digest));
        assert.equal(share.queued, inLine.length);
        if (now.length === 0) assert.equal(inLine.length, 0, "a request waits although there is room");
      }
      while (recogniser.underWay.length > 0) {
        recogniser.underWay[0]!.finish();
        await settle();
      }
      assert.deepEqual([asking.size, share.used, share.queued], [0, 0, 0]);
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40 }), run), { numRuns: 200 });
  });
});

test("TranscriptCache keeps the most recently used clips", () => {
  const clips = new TranscriptCache(2);
  clips.keep("a", { transcript: transcriptOf("A."), isWhole: true });
  clips.keep("b", { transcript: transcriptOf("B."), isWhole: true });
  assert.equal(clips.get("a")?.transcript.text, "A.");
  clips.keep("c", { transcript: transcriptOf("C."), isWhole: true });
  assert.deepEqual(
    ["a", "b", "c"].map((digest) => clips.get(digest)?.transcript.text),
    ["A.", undefined, "C."],
  );
});

test("TranscriptCache replaces a shorter transcript, never a complete one", () => {
  const clips = new TranscriptCache(2);
  const known = () => clips.get("a")?.transcript.text;
  clips.keep("a", { transcript: transcriptOf("One. Two.", 60), isWhole: false });
  clips.keep("a", { transcript: transcriptOf("One.", 30), isWhole: false });
  assert.equal(known(), "One. Two.");
  clips.keep("a", { transcript: transcriptOf("One. Two. Three.", 90), isWhole: false });
  assert.equal(known(), "One. Two. Three.");
  clips.keep("a", { transcript: transcriptOf("All.", 80), isWhole: true });
  clips.keep("a", { transcript: transcriptOf("One. Two. Three. Four.", 120), isWhole: false });
  assert.equal(known(), "All.");
});

test("joinTranscripts takes the language of the first part with speech", () => {
  const silence = {
    ...transcriptOf("", 30),
    language: "cy",
    languageProbability: 0.2,
    meanLogProbability: null,
  };
  const words = { ...transcriptOf("Guten Tag.", 60), language: "de", speechProbability: null };
  const all = joinTranscripts(silence, words);
  assert.deepEqual(
    [
      all.text,
      all.language,
      all.languageProbability,
      all.speechProbability,
      all.meanLogProbability,
      all.transcribedS,
    ],
    ["Guten Tag.", "de", 0.9, 0.8, -0.5, 60],
  );
  const more = joinTranscripts(all, { ...transcriptOf("Tschüss mal.", 90), meanLogProbability: -1 });
  assert.deepEqual([more.text, more.language, more.transcribedS], ["Guten Tag. Tschüss mal.", "de", 90]);
  assert.ok(more.meanLogProbability! < -0.5 && more.meanLogProbability! > -1);
  assert.equal(joinTranscripts(null, words), words);
});

function transcriptOf(text: string, heardS = 1): Transcript {
  return {
    text,
    language: "en",
    languageProbability: 0.9,
    speechProbability: 0.8,
    meanLogProbability: -0.5,
    segments: [],
    transcribedS: heardS,
  };
}
