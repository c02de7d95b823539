import assert from "node:assert/strict";
import { test } from "node:test";
import type { AudioSource } from "../../../src/core/audio-source.ts";
import type { Conversation, Turn } from "../../../src/core/conversation.ts";
import {
  type RecogniseOptions,
  type Recogniser,
  RecogniserError,
  type Transcript,
} from "../../../src/core/recogniser.ts";
import { KeyedSemaphore } from "../../../src/limits/keyed-semaphore.ts";
import { ClipTranscriber } from "../../../src/serving/transcribe/clip-transcriber.ts";
import {
  HistoryTranscriber,
  type HistoryTranscriberOptions,
} from "../../../src/serving/transcribe/history-transcriber.ts";
import { withClock } from "../service-over.ts";
import { clipIn, clipOf, known, SteppedRecogniser } from "../stepped-recogniser.ts";

const never = new AbortController().signal;

test("transcribes turns without text and keeps the text of others", async () => {
  const recogniser = new ScriptedRecogniser({ one: "Hello there.", two: "How are you?" });
  const transcriber = transcriberOf(recogniser);
  const talk = conversation(null, [spoken("0", "one"), typed("1", "Hi!"), spoken("0", "two", "Given.")]);
  const { conversation: found, turns: results } = await transcriber.transcribe(talk, "a", never);
  assert.deepEqual(
    found.history.map(({ text }) => text),
    ["Hello there.", "Hi!", "Given."],
  );
  assert.deepEqual(recogniser.asked, ["one"]);
  assert.deepEqual(
    results.map(({ index, text, language }) => [index, text, language]),
    [[0, "Hello there.", "en"]],
  );
});

test("transcribes the newest turn first, caches results and reports them in order", async () => {
  const recogniser = new ScriptedRecogniser({ a: "A.", b: "B.", c: "C." });
  const transcriber = transcriberOf(recogniser);
  const turns = [spoken("0", "a"), spoken("1", "b"), spoken("0", "c")];
  const { turns: results } = await transcriber.transcribe(conversation(null, turns), "a", never);
  assert.deepEqual(recogniser.asked, ["c", "b", "a"]);
  assert.deepEqual(
    results.map(({ index }) => index),
    [0, 1, 2],
  );
  const again = await transcriber.transcribe(conversation(null, turns), "a", never);
  assert.equal(recogniser.asked.length, 3);
  assert.deepEqual(
    again.turns.map(({ text }) => text),
    ["A.", "B.", "C."],
  );
});

test("re-transcribes the turns with text that the model reads", async () => {
  const turns = [spoken("0", "a"), spoken("1", "b"), typed("0", "Typed.")];
  for (const [use, reads, asked] of [
    ["never", undefined, []],
    ["always", undefined, ["a"]],
    ["writer", undefined, []],
    ["writer", "speaker", ["a"]],
    ["writer", "everybody", ["b", "a"]],
    ["always", "everybody", ["b", "a"]],
    ["never", "everybody", []],
  ] as const) {
    const recogniser = new ScriptedRecogniser({ a: "A.", b: "B." });
    const transcriber = transcriberOf(recogniser, use);
    await transcriber.transcribe(conversation("Say this.", turns), "a", never, undefined, reads);
    assert.deepEqual(recogniser.asked, asked, `${use} ${reads}`);
  }
});

test("transcribes the newest eight of many turns", async () => {
  const turns = Array.from({ length: 63 }, (_, n) => spoken("0", `clip-${n}`));
  assert.deepEqual(await transcribedIndexes(turns), [55, 56, 57, 58, 59, 60, 61, 62]);
});

test("transcribes the newest two minutes, and at least six turns", async () => {
  const six = ["c", "d", "e", "f", "g", "h"].map((name) => long(name, 19));
  assert.deepEqual(await transcribedIndexes([long("a", 1), long("b", 6), ...six]), [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(await transcribedIndexes([long("a", 1), long("b", 6.5), ...six]), [2, 3, 4, 5, 6, 7]);
  assert.deepEqual(await transcribedIndexes([long("a", 1), long("b", 1_000), long("c", 1_000)]), [0, 1, 2]);
});

test("skips turns beyond the text that a writer reads", async () => {
  for (const [chars, indexes] of [
    [24_000, [0, 2]],
    [24_001, [2]],
  ] as const) {
    const turns = [spoken("0", "a"), typed("1", "x".repeat(chars)), spoken("0", "b")];
    assert.deepEqual(await transcribedIndexes(turns), indexes);
  }
});

test("reports silence as no text and a failure as a problem", async () => {
  const recogniser = new ScriptedRecogniser({
    quiet: "",
    broken: new RecogniserError("the recogniser is away"),
  });
  const turns = [spoken("0", "quiet"), spoken("0", "broken")];
  const { conversation: found, turns: results } = await transcriberOf(recogniser).transcribe(
    conversation(null, turns),
    "a",
    never,
  );
  assert.deepEqual(
    found.history.map(({ text }) => text),
    [null, null],
  );
  assert.deepEqual(
    results.map(({ text, problem }) => [text, problem]),
    [
      [null, null],
      [null, "the recogniser is away"],
    ],
  );
});

test("retries a failed clip, and throws on abort", async () => {
  const failing = new ScriptedRecogniser({ a: new RecogniserError("away") });
  const transcriber = transcriberOf(failing);
  const talk = conversation(null, [spoken("0", "a")]);
  await transcriber.transcribe(talk, "a", never);
  await transcriber.transcribe(talk, "a", never);
  assert.equal(failing.asked.length, 2);
  const reason = new Error("gone");
  await assert.rejects(transcriber.transcribe(talk, "a", AbortSignal.abort(reason)), reason);
});

test("limits the total wait for a recogniser that never answers", async () => {
  await withClock(async (tick) => {
    const recogniser = new SteppedRecogniser();
    const turns = [spoken("0", "a"), spoken("0", "b"), spoken("0", "c")];
    let nowMs = 0;
    const transcriber = transcriberOf(recogniser, "writer", { patienceMs: 10_000, nowMs: () => nowMs });
    const pending = transcriber.transcribe(conversation(null, turns), "a", signal());
    const pass = async (ms: number) => {
      nowMs += ms;
      await tick(ms);
    };
    await pass(0);
    await pass(4_000);
    recogniser.asked[0]!.hearWindow("C.");
    recogniser.asked[0]!.finish();
    await pass(0);
    await pass(5_999);
    assert.deepEqual([recogniser.digests, recogniser.asked[1]!.signal.aborted], [["c", "b"], false]);
    await pass(1);
    const { turns: results } = await pending;
    // The recognition continues for a while, for another request.
    assert.equal(recogniser.asked[1]!.signal.aborted, false);
    await pass(15_000);
    assert.match(`${recogniser.asked[1]!.signal.reason}`, /took too long/);
    assert.deepEqual(
      results.map(({ text, problem }) => [text, problem]),
      [
        [null, TOO_LONG],
        [null, TOO_LONG],
        ["C.", null],
      ],
    );
  });
});

test("does not count the wait for a slot against the patience", async () => {
  await withClock(async (tick) => {
    const recogniser = new SteppedRecogniser();
    const transcriber = transcriberOf(recogniser, "writer", { patienceMs: 10_000 });
    const all = Array.from({ length: 20 }, (_, at) =>
      transcriber.transcribe(conversation(null, [spoken("0", `clip-${at}`)]), "a", signal()),
    );
    for (const at of all.keys()) {
      await tick(9_000);
      assert.equal(recogniser.asked.length, at + 1);
      recogniser.asked[at]!.hearWindow(`Words ${at}.`);
      recogniser.asked[at]!.finish();
    }
    for (const [at, each] of all.entries()) {
      const [results] = (await each).turns;
      assert.deepEqual([results?.text, results?.problem], [`Words ${at}.`, null]);
    }
  });
});

test("refuses a request that waits too long for a slot", async () => {
  await withClock(async (tick) => {
    const recogniser = new SteppedRecogniser();
    const places = new KeyedSemaphore({ ...PLACES, waitMs: 30_000 });
    const transcriber = new HistoryTranscriber(new ClipTranscriber(recogniser, places), {
      use: "writer",
      patienceMs: 60_000,
    });
    const first = transcriber.transcribe(conversation(null, [spoken("0", "one")]), "a", never);
    const second = transcriber.transcribe(conversation(null, [spoken("0", "two")]), "a", never);
    second.catch(() => {});
    await tick(30_000);
    await assert.rejects(second, {
      status: 502,
      retryAfterMs: 1_000,
      message: /capacity \(turns being heard\)/,
    });
    recogniser.asked[0]!.finish();
    await first;
  });
});

test("finishes the current window of a partial clip and resumes there next time", async () => {
  await withClock(async (tick) => {
    const recogniser = new SteppedRecogniser();
    const transcriber = transcriberOf(recogniser, "writer", { patienceMs: 10_000 });
    const talk = conversation(null, [long("long", 100)]);
    const first = transcriber.transcribe(talk, "a", never);
    await tick(0);
    recogniser.asked[0]!.hearWindow("I feel");
    // Ten seconds, and more for a long clip.
    await tick(20_499);
    assert.equal(recogniser.asked[0]!.signal.aborted, false);
    await tick(1);
    const { conversation: found, turns: results } = await first;
    assert.equal(found.history[0]?.text, null);
    assert.deepEqual([results[0]?.text, results[0]?.heardS, results[0]?.problem], ["I feel", 30, TOO_LONG]);
    assert.equal(recogniser.asked[0]!.signal.aborted, false);
    recogniser.asked[0]!.hearWindow("much");
    assert.equal(recogniser.asked[0]!.signal.aborted, true);
    const second = transcriber.transcribe(talk, "a", never);
    await tick(0);
    assert.equal(recogniser.asked[1]!.options.startAtS, 60);
    recogniser.asked[1]!.hearWindow("better.");
    recogniser.asked[1]!.finish();
    const whole = await second;
    assert.equal(whole.conversation.history[0]?.text, "I feel much better.");
    assert.deepEqual([whole.turns[0]?.heardS, whole.turns[0]?.problem], [100, null]);
  });
});

test("continues an unfinished clip when it is requested again", async () => {
  await withClock(async (tick) => {
    const recogniser = new SteppedRecogniser();
    const transcriber = transcriberOf(recogniser, "writer", { patienceMs: 10_000 });
    const talk = conversation(null, [spoken("0", "one")]);
    const first = transcriber.transcribe(talk, "a", never);
    await tick(0);
    await tick(11_000);
    assert.equal((await first).turns[0]?.problem, TOO_LONG);
    const second = transcriber.transcribe(talk, "a", never);
    await tick(0);
    recogniser.asked[0]!.hearWindow("One.");
    recogniser.asked[0]!.finish();
    assert.equal((await second).conversation.history[0]?.text, "One.");
    assert.equal(recogniser.asked.length, 1);
    await tick(60_000);
  });
});

test("reports the outcome of each turn with the recogniser's error", async () => {
  const outcomes: string[] = [];
  const failing = new ScriptedRecogniser({ a: new RecogniserError("away") });
  const transcriber = transcriberOf(failing, "writer", {
    onTurn: (outcome, error) => outcomes.push(`${outcome}: ${error?.message}`),
  });
  await transcriber.transcribe(conversation(null, [spoken("0", "a"), spoken("0", "b")]), "a", never);
  assert.deepEqual(outcomes, ["whole: undefined", "none: away"]);
});

const TOO_LONG = "Hearing it took too long: say less at once, or ask again.";

class ScriptedRecogniser implements Recogniser {
  readonly name = "scripted";
  readonly memoryBytesPerS = 0;
  readonly canTranslate = false;
  readonly asked: string[] = [];
  readonly #script: Readonly<Record<string, string | Error>>;

  constructor(script: Readonly<Record<string, string | Error>>) {
    this.#script = script;
  }

  async recognise(sound: AudioSource, _options: RecogniseOptions, signal: AbortSignal): Promise<Transcript> {
    const { digest, durationS } = await clipIn(sound, signal);
    this.asked.push(digest);
    const said = this.#script[digest] ?? "Words.";
    if (said instanceof Error) throw said;
    return {
      text: said,
      language: "en",
      languageProbability: 0.99,
      speechProbability: said === "" ? 0.1 : 0.99,
      meanLogProbability: -0.2,
      segments: [],
      transcribedS: durationS,
    };
  }

  async close(): Promise<void> {}
}

const PLACES = {
  what: "turns being heard",
  total: 2,
  perKey: 1,
  queueDepth: 64,
  keyQueueDepth: 64,
  waitMs: 1_000_000,
};

function transcriberOf(
  recogniser: Recogniser,
  use: "writer" | "always" | "never" = "writer",
  options: Omit<HistoryTranscriberOptions, "use"> = {},
): HistoryTranscriber {
  return new HistoryTranscriber(new ClipTranscriber(recogniser, new KeyedSemaphore(PLACES)), {
    use,
    ...options,
  });
}

async function transcribedIndexes(turns: readonly Turn[]): Promise<number[]> {
  const { turns: results } = await transcriberOf(new ScriptedRecogniser({})).transcribe(
    conversation(null, turns),
    "a",
    never,
  );
  return results.map(({ index }) => index);
}

function signal(): AbortSignal {
  return new AbortController().signal;
}

function long(digest: string, durationS: number): Turn {
  return { speaker: "0", text: null, audio: clipOf(digest, durationS) };
}

function conversation(text: string | null, history: readonly Turn[]): Conversation {
  return { history, open: { speaker: "0", text } };
}

function typed(speaker: string, text: string): Turn {
  return { speaker, text, audio: null };
}

function spoken(speaker: string, digest: string, text: string | null = null): Turn {
  const samples = new Float32Array(16_000);
  const audio = known({ samples, sampleRateHz: 16_000, durationS: 1, digest, isGivenAway: true });
  return { speaker, text, audio };
}
